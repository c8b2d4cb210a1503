import { readlink } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openDatabase } from '../../db/libsql/client.ts'
import { readInstances } from '../../db/standing.ts'
import { standingOf } from '../../functions/restarts/standing.ts'
import { instanceFactsFrom } from '../../functions/restarts/standing-facts.ts'
import { ownPlace } from '../../platform/program.ts'
import { told } from '../functions/restarts/standing-app.ts'
import { startContainer } from './service.ts'

test('a service in a container of Docker is found on the machine of the engine, as what the engine runs', async () => {
  const service = await startContainer()
  const namespace = (await readlink(`/proc/${(await service.inspect()).State.Pid}/ns/pid`)).replace(/\D/g, '')
  const machine = await told()
  const db = await openDatabase(`file:${service.data}/panel.db`)
  const noted = async () => (await readInstances(db)).flatMap(({ facts }) => instanceFactsFrom(facts) ?? [])
  await expect.poll(noted, { timeout: 20_000 }).toHaveLength(1)
  const instances = await noted()
  await db.close()

  expect(machine?.inner).toContainEqual({ namespace, container: null, engine: true })
  // Docker shows the boot id of the machine.
  expect(instances).toMatchObject([{ boot: (await ownPlace())?.boot, namespace, unit: null }])
  const { roles, places } = standingOf(instances, new Map([['host', machine ?? never()]]))
  expect(places).toEqual(['host'])
  expect([...(roles.get('host') ?? [])].sort()).toEqual(['engine', 'panel'])
})

function never(): never {
  throw new Error('the machine tells nothing')
}
