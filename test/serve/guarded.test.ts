import { expect, test } from 'vitest'
import { saying } from '../functions/modules/module.ts'
import { auditOf, BACK_MS, doing, startGuarded } from './guarded.ts'

/** The service stands still before it is ended, and starts again on a busy machine. */
const LONG = 180_000

const ENDS: readonly (readonly [title: string, work: string, afterMs: number, reason: RegExp])[] = [
  ['loops 3 s after its start', 'for (;;);', 3_000, /ne s’est pas terminé.*backend\.mjs:\d+/],
  [
    'loops in microtasks',
    'const again = () => Promise.resolve().then(again); again()',
    3_000,
    /ne s’est pas terminé|a pris trop de mémoire/,
  ],
  ['exits 3 s after its start', 'process.exit(3)', 3_000, /a arrêté le service \(backend\.mjs:\d+\)/],
  ['exits 10 s after its start', 'process.exit(0)', 10_000, /a arrêté le service/],
  ['throws 3 s after its start', "throw new Error('gone wrong')", 3_000, /backend\.mjs:\d+:\d+\) : gone wrong/],
  [
    'leaves an error of a socket to nobody',
    "process.getBuiltinModule('node:net').connect(1, '127.0.0.1')",
    3_000,
    /ECONNREFUSED/,
  ],
]

test.each(ENDS)(
  'a module that %s is taken out alone',
  async (_, work, afterMs, reason) => {
    const service = await startGuarded({ good: saying('good', 'yes'), bad: doing('bad', work, afterMs) })

    const { detail, silence } = await service.takesOut('bad')

    expect(detail).toMatch(reason)
    expect(silence).toBeLessThan(BACK_MS)
    expect(await service.problems()).toEqual({ good: { problem: null, detail: null }, bad: expect.anything() })
    expect(await service.get('/api/modules/good/word')).toEqual({ status: 200, body: { word: 'yes' } })
    expect((await service.get('/api/modules/bad/word')).status).toBe(404)
    expect(await auditOf(service, 'module_taken_out')).toEqual([{ target: 'bad', ip: 'service' }])
  },
  LONG,
)
