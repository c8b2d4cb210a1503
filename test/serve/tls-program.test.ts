import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'
import { expect, inject, test } from 'vitest'
import * as z from 'zod'
import { temporaryFolder } from '../db/folder.ts'
import { freePort } from '../free-port.ts'
import { selfSigned } from '../spec/certificate.ts'
import { startDemo } from '../runtime/demo.ts'
import { runProgram, startProgram } from './program.ts'
import { issue, openSocket } from './service.ts'
import { controlledOutput } from '../runtime/upgrade-output.ts'

type Pair = Pick<ReturnType<typeof selfSigned>, 'cert' | 'key'>

/** A folder with a certificate and its key, and the environment of a program that serves with them. */
async function prepare({ cert, key }: Pair) {
  const folder = await temporaryFolder()
  const files = { PANEL_TLS_CERT: join(folder, 'cert.pem'), PANEL_TLS_KEY: join(folder, 'key.pem') }
  const lay = async (pair: Pair) => {
    await writeFile(files.PANEL_TLS_CERT, pair.cert)
    await writeFile(files.PANEL_TLS_KEY, pair.key)
  }
  await lay({ cert, key })
  const env = { ...files, PANEL_DATA_DIR: folder, PANEL_PORT: String(await freePort()) }
  return { env, files, folder, port: Number(env.PANEL_PORT), lay }
}

/** Returns the name on the certificate that a new connection gets. */
async function shown(port: number): Promise<string | undefined> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const certificate = socket.getPeerX509Certificate()
  socket.destroy()
  return certificate?.subject
}

/** Starts an upgrade of the host; returns the job's id. */
async function startUpgrade(port: number, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` }
  const options = { port, host: '127.0.0.1', path: '/api/updates/run', method: 'POST', headers }
  const sent = request({ ...options, rejectUnauthorized: false })
  sent.end('{"target":"host"}')
  const [response] = await once(sent, 'response')
  return z.object({ job_id: z.string() }).parse(JSON.parse(await text(response))).job_id
}

test.each(['process', 'none'])(
  'deployer %s: a renewal reaches the running service, and does not disturb a client that follows a job',
  async (deployer) => {
    const demo = await startDemo()
    const output = controlledOutput(demo)
    const { env, folder, port, lay } = await prepare(selfSigned('first'))
    const program = startProgram({
      ...env,
      PANEL_DEPLOYER: deployer,
      PANEL_JWT_KEY: inject('signingKey').pem,
      PANEL_SSH_HOST: `127.0.0.1:${demo.port}`,
      PANEL_SSH_USERNAME: demo.service.username,
      PANEL_SSH_PASSWORD: demo.service.password,
    })
    await program.said('"msg":"ready"')
    const { token } = await issue(folder, 900)
    const job = await startUpgrade(port, token)
    const follower = openSocket(`https://127.0.0.1:${port}`, `/ws/updates/${job}`, {
      token,
      connection: { rejectUnauthorized: false },
    })
    await follower.opened
    output.print('before\n')
    await expect.poll(follower.text).toContain('before\n')

    await lay(selfSigned('second'))
    await program.said('TLS certificate renewed')

    expect(await shown(port)).toBe('CN=second')
    output.print('after\n')
    output.end()
    expect(await follower.end).toBe(1000)
    expect(follower.text()).toContain('before\nafter\n')
    const health = await runProgram(env, 'health')
    expect(health).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(health.stdout)).toMatchObject({ status: 'ok' })
  },
  60_000,
)

const locked = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret-4711' },
})

test.each([
  [
    'a key with a passphrase',
    { key: locked.privateKey },
    /PANEL_TLS_KEY : .*key\.pem est protégée par un mot de passe/,
  ],
  [
    'another key',
    { key: selfSigned().key },
    /PANEL_TLS_CERT, PANEL_TLS_KEY : .*key\.pem n’est pas la clé du certificat/,
  ],
  ['no certificate', { cert: 'none' }, /PANEL_TLS_CERT : un certificat en PEM est attendu dans .*cert\.pem/],
])('with %s the service does not start, and says why', async (_, wrong, why) => {
  const { env } = await prepare({ ...selfSigned(), ...wrong })

  const { code, stderr } = await runProgram(env)

  expect(code).toBe(1)
  expect(stderr).toMatch(why)
  expect(stderr).not.toContain('    at ')
})
