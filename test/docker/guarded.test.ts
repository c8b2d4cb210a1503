import { expect, test } from 'vitest'
import * as z from 'zod'
import { doing } from '../serve/guarded.ts'
import { repository, saying } from '../functions/modules/module.ts'
import { startContainer } from './service.ts'

/** The time within which the panel answers again, whatever a module does. */
const BACK_MS = 30_000
/** Later than the trial of a module, which would roll it back. */
const AFTER_MS = 10_000

const Repairs = z.array(z.object({ id: z.string(), problem: z.string().nullable(), detail: z.string().nullable() }))

test.each([
  ['loops', 'for (;;);', /ne s’est pas terminé/],
  ['exits', 'process.exit(3)', /a arrêté le service \(backend\.mjs:\d+\)/],
  ['throws', "throw new Error('gone wrong')", /gone wrong/],
  ['aborts without an explanation', 'process.abort()', /sans que la cause soit connue/],
])('in a container, a module that %s is taken out alone, and the others serve', async (_, work, reason) => {
  const service = await startContainer()
  service.forge.put(repository('good', '1.0.0', saying('good', 'yes')))
  expect(await service.install('good')).toMatchObject({ state: 'done' })
  await service.quiet()
  service.forge.put(repository('bad', '1.0.0', doing('bad', work, AFTER_MS)))
  expect(await service.install('bad')).toMatchObject({ state: 'done' })

  let [silence, heard] = [0, performance.now()]
  let detail: string | null | undefined
  await expect
    .poll(
      async () => {
        const answer = await service.get('/api/repair/modules').catch(() => undefined)
        if (answer?.status !== 200) return undefined
        silence = Math.max(silence, performance.now() - heard)
        heard = performance.now()
        const bad = Repairs.parse(answer.body).find(({ id }) => id === 'bad')
        detail = bad?.detail
        return bad?.problem
      },
      { timeout: 180_000, interval: 200 },
    )
    .toBe('taken_out')

  console.log(`silent for ${Math.round(silence / 1000)} s: ${detail}`)
  expect(detail).toMatch(reason)
  expect(silence).toBeLessThan(BACK_MS)
  expect(await service.get('/api/modules/good/word')).toEqual({ status: 200, body: { word: 'yes' } })
  expect((await service.get('/api/modules/bad/word')).status).toBe(404)
})
