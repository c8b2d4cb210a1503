import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../db/folder.ts'
import { type Canary, canary, search } from '../../property/canaries.ts'
import { startDemo } from '../../runtime/demo.ts'
import { runProgram } from '../../serve/program.ts'
import { issue, startService } from '../../serve/service.ts'
import { codeOf } from '../factors/person.ts'
import { PROGRAM_MS } from './data.ts'

const random = () => randomBytes(24).toString('base64url')

test(
  'a backup has no secret of a channel or a schedule in clear, nor one that was replaced',
  async () => {
    const demo = await startDemo()
    const [folder, away] = [await temporaryFolder(), await temporaryFolder()]
    const service = await startService(demo, { PANEL_DATA_DIR: folder })
    const { token } = await issue(folder, 900, { isAdmin: true })
    const request = (method: string, path: string, body: object) =>
      fetch(`${service.url}${path}`, {
        ...{ method, body: JSON.stringify(body) },
        headers: { authorization: `Bearer ${token}` },
      })
    const secrets: Canary[] = []
    const secret = (name: string, value = random()) => {
      secrets.push(canary(name, value, { length: 16, step: 1 }))
      return value
    }
    const post = async (path: string, body: object) => {
      const answer = await request('POST', path, body)
      expect([path, answer.status]).toEqual([path, 201])
      return String(Object(await answer.json()).id)
    }
    const channels = '/api/notifications/channels'
    const url = 'https://push.test'
    const mail = { host: 'mail.test', port: 587, security: 'starttls', from: 'a@b.test', to: ['c@d.test'] }
    const settings = {
      email: { ...mail, username: 'panel', password: secret('password') },
      ntfy: { url, topic: 'ops', token: secret('ntfy') },
      gotify: { url, token: secret('gotify') },
      webhook: { url: `${url}/hooks/${secret('address')}?key=${secret('query')}`, secret: secret('webhook') },
      apprise: { url, key: secret('apprise') },
      matrix: { url, room: '!a:b', token: secret('matrix') },
    }
    const ids: Record<string, string> = {}
    for (const [kind, each] of Object.entries(settings))
      ids[kind] = await post(channels, { name: `canal ${kind}`, kind, settings: each })
    const schedule = await post('/api/schedules', {
      ...{ name: 'Nuit', cron: '0 3 * * *', timezone: 'UTC', action: 'check', waves: [{ targets: 'rest' }] },
      ping_url: `https://ping.test/${secret('ping')}`,
    })
    const changed = [
      await request('PATCH', `${channels}/${ids.webhook}`, {
        settings: { url: `${url}/hooks/${secret('second address')}`, secret: secret('second secret') },
      }),
      await request('PATCH', `/api/schedules/${schedule}`, { ping_url: `https://ping.test/${secret('second ping')}` }),
    ]
    expect(changed.map(({ status }) => status)).toEqual([200, 200])

    const file = join(away, 'b.db')
    expect(await runProgram({ PANEL_DATA_DIR: folder }, 'backup', file)).toMatchObject({ code: 0, stderr: '' })

    const bytes = await readFile(file)
    expect(secrets).toHaveLength(12)
    // Texts that are no secrets are found as they are, so the search looks at the right bytes.
    for (const known of ['canal webhook', 'mail.test', 'Nuit']) expect(bytes.includes(known)).toBe(true)
    expect(search(bytes, secrets)).toEqual([])
    expect(bytes.includes('/hooks/')).toBe(false)
    for (const name of ['panel.db', 'panel.db-wal'])
      expect(search(await readFile(join(folder, name)).catch(() => Buffer.alloc(0)), secrets)).toEqual([])
  },
  PROGRAM_MS,
)

test(
  'a backup has no secret of a second factor in clear',
  async () => {
    const demo = await startDemo()
    const [folder, away] = [await temporaryFolder(), await temporaryFolder()]
    const service = await startService(demo, { PANEL_DATA_DIR: folder })
    const { token } = await issue(folder, 900)
    const post = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${token}` }
      const answer = await fetch(`${service.url}/api/auth/${path}`, {
        ...{ method: 'POST', body: JSON.stringify(body), headers },
      })
      return Object(await answer.json())
    }
    const { secret, challenge } = await post('factors/totp', { name: 'Téléphone' })
    const other = await post('factors/totp', { name: 'Tablette' })
    const code = codeOf(secret, Math.floor(Date.now() / 30_000))
    const { recovery_codes } = await post('factors/totp/confirm', { challenge, code })
    const asked = await post('step-up', {})
    expect(asked).toMatchObject({ code: 'factor_proof_required', factors: ['totp', 'recovery'] })
    const hidden: string[] = [secret, other.secret, challenge, other.challenge, asked.challenge, ...recovery_codes]
    const secrets = [...hidden, ...hidden.map((text) => text.replaceAll('-', ''))].map((text, n) =>
      canary(`secret ${n}`, text, { length: 14, step: 1 }),
    )

    const file = join(away, 'b.db')
    expect(await runProgram({ PANEL_DATA_DIR: folder }, 'backup', file)).toMatchObject({ code: 0, stderr: '' })

    const bytes = await readFile(file)
    expect(hidden).toHaveLength(15)
    // The name of the factor is no secret, so the search looks at the right bytes.
    expect(bytes.includes('Téléphone')).toBe(true)
    expect(search(bytes, secrets)).toEqual([])
    for (const name of ['panel.db', 'panel.db-wal'])
      expect(search(await readFile(join(folder, name)).catch(() => Buffer.alloc(0)), secrets)).toEqual([])
  },
  PROGRAM_MS,
)
