import { expect, test } from 'vitest'
import { addDeployment, endDeployment, findDeployment } from '../../../db/deployments.ts'
import pruneDeployments from '../../../functions/registry/prune-deployments.task.ts'
import { START, testApp } from '../../app.ts'

test('prune-deployments keeps the newest two hundred, and those in progress', async () => {
  const { db, services } = await testApp([])
  const at = START.toISOString()
  const add = (id: string, place: string) =>
    addDeployment(db, {
      id,
      module: 'wordy',
      place,
      owner: 'o',
      before: undefined,
      files_before: false,
      started_at: at,
    })
  await add('open', 'elsewhere')
  for (let n = 0; n < 202; n += 1) {
    await add(`d${n}`, 'here')
    await db.batch([endDeployment(`d${n}`, 'done', 'fini', null, at)])
  }

  await pruneDeployments.run(services)

  const there = async (id: string) => (await findDeployment(db, id)) !== undefined
  expect(await there('open')).toBe(true)
  expect([await there('d0'), await there('d1'), await there('d2'), await there('d201')]).toEqual([
    false,
    false,
    true,
    true,
  ])
})
