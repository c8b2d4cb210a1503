import { expect, test } from 'vitest'
import { openDatabase } from '../../db/libsql/client.ts'
import { audited } from '../functions/answers.ts'
import { startDemo } from '../runtime/demo.ts'
import { startService } from '../serve/service.ts'

test('a changed host key is audited once; of its repeats each doubling only', async () => {
  const demo = await startDemo()
  const { folder, url, request, stop } = await startService(demo)
  const login = () =>
    fetch(`${url}/api/auth/login`, {
      method: 'POST',
      body: JSON.stringify({ username: 'demo', password: 'demo' }),
    })
  const changed = async () => {
    const db = await openDatabase(`file:${folder}/panel.db`)
    const entries = await audited(db)
    await db.close()
    return entries.filter(({ action }) => action === 'host_key_changed')
  }
  expect((await login()).status).toBe(200)
  expect(await changed()).toEqual([])
  const { port, hostKey } = demo
  await demo.close()
  const other = await startDemo({ port })

  const answer = await login()

  expect(answer.status).toBe(401)
  expect(await answer.json()).toMatchObject({ code: 'host_key_changed' })
  await expect.poll(changed).toHaveLength(1)
  const [entry] = await changed()
  expect(entry).toMatchObject({ user_id: null, username: null, ip: 'host' })
  expect(entry?.details).not.toHaveProperty('count')
  expect(JSON.stringify(entry?.details)).toContain(hostKey)
  expect(JSON.stringify(entry?.details)).toContain(other.hostKey)

  for (let n = 0; n < 2; n += 1) expect((await login()).status).toBe(401)
  for (const path of ['targets', 'packages?target=host', 'packages?target=lxc:101'])
    await request('GET', `/api/updates/${path}`)
  await stop()

  const [, ...more] = await changed()
  expect(more).toMatchObject([{ details: { count: 2 } }, { details: { count: 4 } }])
  expect(other.commands).toEqual([])
})
