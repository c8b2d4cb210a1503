import { once } from 'node:events'
import ssh2, { type AnyAuthMethod, type Client, type ClientChannel } from 'ssh2'
import { type Command, quote, script } from '../../ssh/command.ts'
import { startCommands } from '../../jobs/host-job.ts'
import type { Prepared } from '../../jobs/kind.ts'
import { FOLLOW, OUTPUT_MARK } from '../../jobs/script.ts'

interface Login {
  port: number
  username: string
  password: string
  method?: 'password' | 'keyboard-interactive'
}

/** Signs in with an ssh2 client of the test; `ended` when the host hung up without a message. */
export async function signIn({
  port,
  username,
  password,
  method = 'password',
}: Login): Promise<Client | 'ended' | 'refused'> {
  const client = new ssh2.Client()
  const outcome = new Promise<Client | 'ended' | 'refused'>((resolve) => {
    client.on('ready', () => resolve(client))
    client.on('error', () => resolve('refused'))
    client.on('close', () => resolve('ended'))
  })
  const auth: AnyAuthMethod =
    method === 'password'
      ? { type: 'password', username, password }
      : {
          type: 'keyboard-interactive',
          username,
          prompt: (_n, _i, _l, prompts, finish) => finish(prompts.map(() => password)),
        }
  client.connect({ host: '127.0.0.1', port, username, authHandler: [auth] })
  client.setNoDelay(true)
  const settled = await outcome
  if (settled !== client) client.destroy()
  return settled
}

/** Like `signIn`, but throws when the login fails. */
export async function connect(login: Login): Promise<Client> {
  const client = await signIn(login)
  if (typeof client === 'string') throw new Error(`${login.username}: ${client}`)
  return client
}

/** Opens a channel with a command line in it. */
export function open(client: Client, line: string): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    client.exec(line, (error, channel) => (error ? reject(error) : resolve(channel)))
  })
}

/** Runs a command line to its end. */
export async function exec(client: Client, line: string, stdin = '') {
  const channel = await open(client, line)
  channel.end(stdin)
  return collect(channel)
}

/** Runs a command, quoted as the service does. */
export function run(client: Client, command: Command, stdin = '') {
  return exec(client, quote(command), stdin)
}

/** Reads a channel to its end, without the mark that precedes a followed job's output. */
export async function collect(channel: ClientChannel) {
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  channel.on('data', (chunk: Buffer) => stdout.push(chunk))
  channel.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  // The exit code may arrive together with the channel, before a listener for `exit` exists; `close` repeats it.
  const [code]: unknown[] = await once(channel, 'close')
  const bytes = withoutMark(Buffer.concat(stdout))
  return {
    code,
    bytes,
    stdout: bytes.toString(),
    stderr: Buffer.concat(stderr).toString(),
  }
}

/** Returns the output of a channel, without the mark that precedes a followed job's output. */
export function withoutMark(bytes: Buffer): Buffer {
  const mark = Buffer.from(`${OUTPUT_MARK}\n`)
  return bytes.subarray(0, mark.length).equals(mark) ? bytes.subarray(mark.length) : bytes
}

/** Starts a detached job, with all that the service sends before; returns the answer to the last command. */
export async function startJob(client: Client, id: string, job: Command | Prepared) {
  const prepared = 'command' in job ? job : { command: job }
  const commands = startCommands({ name: id, mostOutput: 1_000_000 }, prepared)
  for (const command of commands.slice(0, -1)) await run(client, command)
  return run(client, commands.at(-1) ?? ['false'])
}

/** Opens a channel that follows a job; its stdin stays open. */
export function follow(client: Client, id: string, offset = 0): Promise<ClientChannel> {
  return open(client, quote(script(FOLLOW, 'ops-panel-follow', id, String(offset))))
}
