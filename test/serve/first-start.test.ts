import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { temporaryFolder } from '../db/folder.ts'
import { auditRows, collectEvidence } from '../property/evidence.ts'
import { startDemo } from '../runtime/demo.ts'
import { startProgram } from './program.ts'

/** Each test starts and stops a whole program. */
const PROGRAM_MS = 90_000

/** The program in a new folder, as a person starts it for the first time. */
async function place() {
  const folder = await temporaryFolder()
  const evidence = collectEvidence()
  onTestFinished(() => evidence.end())
  const environment = { PANEL_DATA_DIR: folder, PANEL_LOG_LEVEL: 'info', PANEL_JWT_KEY: inject('signingKey').pem }
  const start = (more: Record<string, string> = {}) => evidence.start({ ...environment, ...more })
  return { folder, evidence, start, file: join(folder, 'setup-token') }
}

/** Returns the log's message for a person who has not installed the service yet. */
const invitation = (output: string) => output.split('\n').filter((line) => line.includes('Pas encore installé'))

const Checked = z.object({ ssh_host_key: z.string() })
const exists = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  )

test(
  'a first start prints address and token; the wizard leads to a login; no later start creates a token',
  async () => {
    const demo = await startDemo()
    const { folder, evidence, start, file } = await place()
    const first = await start()
    await expect.poll(() => invitation(evidence.output())).toHaveLength(1)
    const setup_token = (await readFile(file, 'utf8')).trim()
    const [line] = invitation(evidence.output())
    expect(line).toContain(first.url)
    expect(line).toContain(setup_token)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const post = (url: string, path: string, body: unknown) => evidence.ask(url, 'POST', path, { body })
    const account = { username: 'demo', password: 'demo' }
    expect(await post(first.url, '/api/auth/login', account)).toMatchObject({
      status: 503,
      body: expect.stringContaining('ssh_host_missing'),
    })

    const { username: ssh_username, password: ssh_password } = demo.service
    const body = { setup_token, ssh_host: `127.0.0.1:${demo.port}`, ssh_username, ssh_password }
    const checked = await post(first.url, '/api/install/check', body)
    expect(checked.status).toBe(200)
    const { ssh_host_key } = Checked.parse(JSON.parse(checked.body))
    expect((await post(first.url, '/api/install', { ...body, setup_token: 'guess', ssh_host_key })).status).toBe(403)
    expect((await post(first.url, '/api/install', { ...body, ssh_host_key })).status).toBe(201)

    expect((await post(first.url, '/api/auth/login', account)).status).toBe(200)
    expect(await exists(file)).toBe(false)
    expect((await post(first.url, '/api/install', { ...body, ssh_host_key })).status).toBe(409)
    await first.stop()

    const second = await start()
    expect((await post(second.url, '/api/auth/login', account)).status).toBe(200)
    expect((await evidence.ask(second.url, 'GET', '/api/install/status')).body).toBe('{"installed":true}')
    await second.stop()
    expect(invitation(evidence.output())).toHaveLength(1)
    expect(await exists(file)).toBe(false)
    expect(evidence.output()).not.toContain(ssh_password)
    expect((await auditRows(folder)).filter((row) => row.includes('"installed"'))).toHaveLength(1)
  },
  PROGRAM_MS,
)

test(
  'a start without an installation keeps its token for the next one',
  async () => {
    const { evidence, start, file } = await place()
    const invited = () => invitation(evidence.output())
    const first = await start()
    await expect.poll(invited).toHaveLength(1)
    await first.stop()
    const token = await readFile(file, 'utf8')

    const second = await start()
    await expect.poll(invited).toHaveLength(2)
    await second.stop()

    expect(await readFile(file, 'utf8')).toBe(token)
    for (const line of invited()) expect(line).toContain(token.trim())
  },
  PROGRAM_MS,
)

test(
  'with a host from the environment no token is created, and an existing one is removed',
  async () => {
    const demo = await startDemo()
    const { evidence, start, file } = await place()
    await writeFile(file, 'left-behind\n')

    const { url, stop } = await start({ PANEL_SSH_HOST: `127.0.0.1:${demo.port}` })

    const body = { setup_token: 'left-behind', ssh_host: 'pve', ssh_username: 'a', ssh_password: 'b' }
    expect((await evidence.ask(url, 'POST', '/api/install/check', { body })).status).toBe(409)
    await stop()
    expect(await exists(file)).toBe(false)
    expect(invitation(evidence.output())).toEqual([])
  },
  PROGRAM_MS,
)

test(
  'a first start prints its token even if the log shows only errors',
  async () => {
    const { folder, file } = await place()
    const program = startProgram({ PANEL_DATA_DIR: folder, PANEL_LOG_LEVEL: 'error' })

    await program.said('Pas encore installé')

    expect(program.stdout().trim().split('\n')).toEqual([
      expect.stringContaining((await readFile(file, 'utf8')).trim()),
    ])
  },
  PROGRAM_MS,
)

test(
  'a start with another PANEL_SECRET_KEY says so at once, with a remedy, and runs',
  async () => {
    const demo = await startDemo()
    const { folder } = await place()
    const { username, password } = demo.service
    const ssh = { PANEL_SSH_HOST: `127.0.0.1:${demo.port}`, PANEL_SSH_USERNAME: username, PANEL_SSH_PASSWORD: password }
    const first = startProgram({ PANEL_DATA_DIR: folder, ...ssh })
    await first.said('"ready"')
    first.kill('SIGTERM')
    expect(await first.ended).toBe(0)

    const other = startProgram({ PANEL_DATA_DIR: folder, PANEL_SECRET_KEY: Buffer.alloc(32, 5).toString('base64') })
    await other.said('"ready"')

    expect(other.stdout()).toMatch(/"level":"error".*ssh_password cannot be decrypted: .*set it anew/)
    expect(first.stdout()).not.toContain('cannot be decrypted')
  },
  PROGRAM_MS,
)
