import { expect, test } from 'vitest'
import { saying } from '../functions/modules/module.ts'
import { auditOf, BACK_MS, doing, startGuarded } from './guarded.ts'

/** The service ends several times before the culprit is found. */
const LONG = 300_000

const BLOCKED = "process.getBuiltinModule('node:child_process').execSync('sleep 600')"

test(
  'a module whose end nobody can explain is found by leaving out one after another, and the others are back',
  async () => {
    const kill = doing('bad', "process.kill(process.pid, 'SIGKILL')", 2_000)
    const service = await startGuarded({ old: saying('old', 'o'), bad: kill, good: saying('good', 'yes') })

    const { detail, silence } = await service.takesOut('bad')

    expect(detail).toMatch(/sans que la cause soit connue/)
    expect(silence).toBeLessThan(BACK_MS)
    expect(await service.problems()).toMatchObject({ old: { problem: null }, good: { problem: null } })
    expect(await service.get('/api/modules/good/word')).toEqual({ status: 200, body: { word: 'yes' } })
    expect(await auditOf(service, 'module_taken_out')).toEqual([
      { target: 'bad', ip: 'service' },
      { target: 'good', ip: 'service' },
    ])
    expect(await auditOf(service, 'module_enabled')).toEqual([{ target: 'good', ip: 'service' }])
  },
  LONG,
)

test(
  'a module that blocks the service by a system call in a request is taken out alone, although it is not the newest',
  async () => {
    const bad = saying('bad', 'x').replace("handler: () => ({ word: 'x' })", `handler() { ${BLOCKED} }`)
    const service = await startGuarded({ bad, good: saying('good', 'yes') })
    service.get('/api/modules/bad/word', AbortSignal.timeout(1_000)).catch(() => undefined)

    const { detail, silence } = await service.takesOut('bad')

    expect(detail).toMatch(/Un appel de son code au système/)
    expect(silence).toBeLessThan(BACK_MS)
    expect(await service.problems()).toMatchObject({ good: { problem: null } })
  },
  LONG,
)

test(
  'a module that blocks the service by a system call of a timer is taken out, and an innocent one is put back',
  async () => {
    const service = await startGuarded({ bad: doing('bad', BLOCKED, 3_000), good: saying('good', 'yes') })

    // The service is blocked three times: it starts with all modules, then without the newest, and then without this one.
    const { silence } = await service.takesOut('bad', 150_000)

    expect(silence).toBeLessThan(BACK_MS)
    expect(await service.problems()).toMatchObject({ good: { problem: null } })
    expect(await service.get('/api/modules/good/word')).toEqual({ status: 200, body: { word: 'yes' } })
  },
  LONG,
)

test(
  'when no single module ends the service, all are left out',
  async () => {
    const kill = (id: string) => doing(id, "process.kill(process.pid, 'SIGKILL')", 1_000)
    const service = await startGuarded({ one: kill('one'), two: kill('two') })

    await service.said('started without the code of the modules')

    await expect
      .poll(() => service.problems())
      .toEqual({
        one: { problem: 'load_failed', detail: expect.stringContaining('plusieurs fois') },
        two: { problem: 'load_failed', detail: expect.stringContaining('plusieurs fois') },
      })
  },
  LONG,
)
