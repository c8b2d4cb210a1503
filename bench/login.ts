import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import * as z from 'zod'
import { startChild } from './child.ts'
import { ADMINISTRATOR, ORDINARY, SSH_PORT, ssh } from './host.ts'
import { startPanel } from './panel.ts'
import { measure } from './rounds.ts'
import { compare, type Row } from './table.ts'

const ROUNDS = { warmUp: 3, rounds: 25 }

/** Measures a login over the API, against one by OpenSSH's client and one by bare ssh2. */
export async function login(): Promise<Row[]> {
  const panel = await startPanel()
  const bare = await startChild('./bare-ssh.ts')
  try {
    const api = apiLogin(`${panel.url}/api/auth/login`)
    const times = await measure(ROUNDS, {
      openssh: () => ssh(ORDINARY, 'true'),
      user: () => api(ORDINARY),
      ssh2: () => bare.ask(z.number(), { what: 'login', port: SSH_PORT, ...ORDINARY }),
      administrator: () => api(ADMINISTRATOR),
    })
    return [
      compare('login / ssh true', { atMost: 0.35 }, 'ms', times('user'), times('openssh')),
      compare('login / bare ssh2 with id', { atMost: 1.5 }, 'ms', times('user'), times('ssh2')),
      compare('an administrator’s login / ssh true', { atMost: 0.35 }, 'ms', times('administrator'), times('openssh')),
      compare(
        'an administrator’s login / bare ssh2 with id',
        { atMost: 1.5 },
        'ms',
        times('administrator'),
        times('ssh2'),
      ),
    ]
  } finally {
    await bare.stop()
    await panel.stop()
  }
}

/** Uses a new connection and another address for each login, because an address has five logins a minute. */
function apiLogin(url: string) {
  let count = 0
  return async (account: { username: string; password: string }): Promise<number> => {
    count += 1
    const from = `127.0.${Math.floor(count / 250)}.${1 + (count % 250)}`
    const started = performance.now()
    const outgoing = request(url, {
      agent: false,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
    })
    const answered: Promise<IncomingMessage[]> = once(outgoing, 'response')
    outgoing.end(JSON.stringify(account))
    const [response] = await answered
    const body = response ? await text(response) : ''
    if (response?.statusCode !== 200) throw new Error(`login was refused: ${body}`)
    return performance.now() - started
  }
}
