import { expect, test } from 'vitest'
import * as z from 'zod'
import logs from '../../../functions/settings/logs.get.ts'
import change from '../../../functions/settings/settings.patch.ts'
import { testApp } from '../../app.ts'
import { answered, audited, refused } from '../answers.ts'

const PATH = '/api/settings/logs'
const Lines = z.strictObject({ lines: z.array(z.string()) })

const start = () => testApp([logs, change])
type App = Awaited<ReturnType<typeof start>>

const read = async (app: App) => Lines.parse(await answered(await app.request('GET', PATH, { as: 'admin' }), 200)).lines

test('an administrator reads the newest 300 lines, oldest first', async () => {
  const app = await start()
  for (let n = 1; n <= 400; n += 1) app.services.log.info({ n }, 'one of many')

  const lines = await read(app)

  const numbers = lines.map((line) => z.object({ n: z.number() }).parse(JSON.parse(line)).n)
  expect(numbers).toEqual(Array.from({ length: 300 }, (_, at) => at + 101))
  expect(await audited(app.db)).toEqual([])
})

test('fewer lines are returned completely, including those of a moment ago', async () => {
  const app = await start()
  app.services.log.warn('just now')

  const lines = await read(app)

  expect(lines.length).toBeLessThan(300)
  expect(lines.at(-1)).toContain('just now')
})

test('a password is not logged, and neither is its length', async () => {
  const app = await start()
  await answered(await app.request('PATCH', '/api/settings', { as: 'admin', body: { ssh_password: 'a new one' } }), 200)
  app.services.log.info({ password: 'hunter2!', ssh: { password: 'hunter2!' } }, 'someone tells too much')

  const text = (await read(app)).join('\n')

  expect(text).toContain('"password":"[masqué]"')
  expect(text).not.toContain('caractères')
  for (const secret of ['service-password', 'a new one', 'hunter2!']) expect(text).not.toContain(secret)
})

test('only administrators have access', async () => {
  const app = await start()

  await refused(await app.request('GET', PATH), 401, 'unauthenticated')
  await refused(await app.request('GET', PATH, { as: 'user' }), 403, 'forbidden')
})
