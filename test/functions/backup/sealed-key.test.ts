import { randomBytes } from 'node:crypto'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStorage } from '../../../db/storage.ts'
import { createSettings } from '../../../functions/services.ts'
import { createLog } from '../../../platform/log.ts'
import { readConfig } from '../../../platform/config.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { type Canary, canary, search } from '../../property/canaries.ts'
import { startDemo } from '../../runtime/demo.ts'
import { runProgram } from '../../serve/program.ts'
import { issue, startService } from '../../serve/service.ts'
import { PROGRAM_MS } from './data.ts'

const clock = () => new Date()

async function keysIn(folder: string) {
  const { log } = createLog({ level: 'silent', write: () => {} })
  const { db, secrets } = await openStorage(readConfig({ PANEL_DATA_DIR: folder }), clock)
  const settings = createSettings({ db, secrets, clock, log })
  const found = { keys: await settings.sshKeys(), account: await settings.sshAccount() }
  await db.close()
  return found
}

test(
  'the private keys of the service account are nowhere in clear, and a restored service signs in by them',
  async () => {
    const demo = await startDemo()
    const user = demo.users.get('panel')
    if (!user) throw new Error('the demo host has no service account')
    user.authorizedKeys = ''
    const [folder, away, restored] = [await temporaryFolder(), await temporaryFolder(), await temporaryFolder()]
    const service = await startService(demo, { PANEL_DATA_DIR: folder })
    const { token } = await issue(folder, 900, { isAdmin: true })
    const rotate = async (body: object) => {
      const headers = { authorization: `Bearer ${token}` }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const answer = await fetch(`${service.url}/api/settings/ssh-key/rotate`, init)
      return { status: answer.status, text: await answer.text() }
    }
    const answers = [await rotate({})]
    const first = (await keysIn(folder)).keys
    answers.push(await rotate({ drop_password: true }))
    user.keysAreForeign = true
    answers.push(await rotate({}))
    const { keys, account } = await keysIn(folder)
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(account.password).toBe('')
    expect(keys.next).toBeDefined()

    const file = join(away, 'b.db')
    expect(await runProgram({ PANEL_DATA_DIR: folder }, 'backup', file)).toMatchObject({ code: 0, stderr: '' })

    const privateKeys = [first.current, keys.current, keys.next].flatMap((key) => key?.privateKey ?? [])
    expect(new Set(privateKeys).size).toBe(3)
    const canaries: Canary[] = privateKeys.flatMap((text, at) => {
      // The public half is no secret: the private one begins behind it.
      const body = Buffer.from(text.replace(/-----[^-]+-----|\s/g, ''), 'base64')
      const seed = body.subarray(body.lastIndexOf(Buffer.from([0, 0, 0, 64])) + 4).subarray(0, 32)
      return [canary(`the seed of key ${at}`, seed), canary(`the text of key ${at}`, text.slice(-120))]
    })
    expect(search(Buffer.from(privateKeys.join()), canaries).length).toBeGreaterThanOrEqual(3)
    const places = [file, join(folder, 'panel.db'), join(folder, 'panel.db-wal')]
    for (const place of places) expect(search(await readFile(place).catch(() => Buffer.alloc(0)), canaries)).toEqual([])
    expect(search(JSON.stringify(answers), canaries)).toEqual([])

    expect(await runProgram({ PANEL_DATA_DIR: restored }, 'restore', file)).toMatchObject({ code: 0 })
    const again = await keysIn(restored)
    expect(again.account.key).toBe(keys.current?.privateKey)
    const { stdout } = await runProgram({ PANEL_DATA_DIR: restored }, 'doctor')
    expect(stdout).toContain('✓ panel s’est connecté.')

    const foreign = join(away, 'foreign.db')
    await copyFile(file, foreign)
    await writeFile(`${foreign}.key`, randomBytes(32).toString('base64'))
    const refused = await runProgram({ PANEL_DATA_DIR: await temporaryFolder() }, 'restore', foreign)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('elle n’en déchiffre aucun secret') })
  },
  PROGRAM_MS,
)
