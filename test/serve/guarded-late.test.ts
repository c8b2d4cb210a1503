import { expect, test } from 'vitest'
import { saying } from '../functions/modules/module.ts'
import { BACK_MS, doing, startGuarded } from './guarded.ts'

const LATE_MS = 5 * 60_000

const WORKS = [
  'for (;;);',
  'process.exit(3)',
  "throw new Error('late')",
  'const kept = []; setInterval(() => { for (let i = 0; i < 5e4; i++) kept.push({ i, more: [i] }) }, 20)',
] as const

test(
  'modules that loop, exit, throw or leak five minutes after their start are taken out alone',
  async () => {
    const limited = { NODE_OPTIONS: '--max-old-space-size=320' }
    const services: Awaited<ReturnType<typeof startGuarded>>[] = []
    for (const work of WORKS)
      services.push(await startGuarded({ bad: doing('bad', work, LATE_MS), good: saying('good', 'yes') }, limited))

    const found = await Promise.all(services.map((service) => service.takesOut('bad', LATE_MS + 90_000)))

    for (const { silence } of found) expect(silence).toBeLessThan(BACK_MS)
    for (const service of services) {
      expect(await service.problems()).toMatchObject({ good: { problem: null } })
      expect(await service.get('/api/modules/good/word')).toEqual({ status: 200, body: { word: 'yes' } })
    }
  },
  LATE_MS + 300_000,
)
