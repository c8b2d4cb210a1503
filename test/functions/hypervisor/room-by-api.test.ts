import { expect, test } from 'vitest'
import { askingService } from './snapshot-asking.ts'

test('a storage that the token may not read says nothing about room', async () => {
  const service = await askingService()
  service.api.permissions = { '/': { 'VM.Audit': 1 } }

  const id = await service.asking(() => ['api_room_AT'])

  expect(await service.answers(id)).toMatchObject([{ code: 0, lines: [] }])
})

test.each([
  ['a nearly full pool', { type: 'lvmthin', total: '1000', used: 987 }, 'zfs local-lvm 98'],
  ['a pool with more in it than it has', { type: 'zfspool', total: 10, used: 1e300 }, 'zfs local-lvm 100'],
])('%s is told', async (_title, storage, line) => {
  const service = await askingService()
  service.snapshots.storages = { 'local-lvm': storage }

  const id = await service.asking(() => ['api_room_AT'])

  expect((await service.answers(id))[0]?.lines).toContain(line)
})

test.each([
  ['a storage without pools', { type: 'dir', total: 1_000, used: 990 }],
  ['a pool without a size', { type: 'lvmthin', total: 0, used: 0 }],
  ['a pool whose figures are none', { type: 'lvmthin', total: 'much', used: -1 }],
])('%s says nothing about room', async (_title, storage) => {
  const service = await askingService()
  service.snapshots.storages = { 'local-lvm': storage }

  const id = await service.asking(() => ['api_room_AT'])

  expect(await service.answers(id)).toMatchObject([{ code: 0, lines: [] }])
})
