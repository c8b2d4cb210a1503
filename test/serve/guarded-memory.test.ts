import { expect, test } from 'vitest'
import { saying } from '../functions/modules/module.ts'
import { BACK_MS, doing, startGuarded } from './guarded.ts'

const LONG = 180_000

const LEAKS: readonly (readonly [title: string, code: string])[] = [
  [
    'leaks in a timer',
    doing('bad', 'setInterval(() => { for (let i = 0; i < 5e4; i++) kept.push({ i, more: [i] }) }, 20)', 3_000),
  ],
  ['allocates in a loop that never ends', doing('bad', 'for (;;) kept.push({ more: [1, 2, 3] })', 3_000)],
]

test.each(LEAKS)(
  'a module that %s is taken out alone',
  async (_, code) => {
    const bad = `const kept = []; ${code}`
    const service = await startGuarded(
      { good: saying('good', 'yes'), bad },
      { NODE_OPTIONS: '--max-old-space-size=320' },
    )

    const { detail, silence } = await service.takesOut('bad')

    expect(detail).toMatch(/a pris trop de mémoire/)
    expect(silence).toBeLessThan(BACK_MS)
    expect(await service.problems()).toMatchObject({ good: { problem: null } })
    expect(await service.get('/api/modules/good/word')).toEqual({ status: 200, body: { word: 'yes' } })
  },
  LONG,
)

/** Takes 150 MiB while the service stands still, works on for some time, and gives them back. */
const REPORT = `
  const wait = (ms) => { for (const until = performance.now() + ms; performance.now() < until; ); }
  wait(1_500)
  const kept = Array.from({ length: 150 }, (_, each) => new Array(131_072).fill(each))
  wait(2_500)
  return { word: String(kept.length) }`

test(
  'a module that takes much of the memory for a moment answers, and is not taken out',
  async () => {
    const report = saying('report', 'x').replace("handler: () => ({ word: 'x' })", `handler() { ${REPORT} }`)
    const service = await startGuarded({ report }, { NODE_OPTIONS: '--max-old-space-size=320' })

    expect(await service.get('/api/modules/report/word')).toEqual({ status: 200, body: { word: '150' } })
    expect(await service.problems()).toEqual({ report: { problem: null, detail: null } })
  },
  LONG,
)
