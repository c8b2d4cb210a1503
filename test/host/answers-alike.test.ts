import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, login } from './client.ts'
import { PASSWORDS, resetWithSshd, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  await resetWithSshd('PermitRootLogin no', 'DenyUsers zoe')
  service = await startService({ as: 'alice' })
  return () => service.stop()
})
// Restores the default sshd, which admits root and zoe.
afterAll(() => rig('reset'))

test('every refused login gets the same answer, whatever the reason', async () => {
  const tries: [string, string][] = [
    ['bob', 'wrong'],
    ['bob', ''.padEnd(1024, 'x')],
    ['nobody-here', 'wrong'],
    ['nobody-here', PASSWORDS.bob],
    ['expired', PASSWORDS.expired],
    ['expired', 'wrong'],
    ['locked', PASSWORDS.locked],
    ['root', PASSWORDS.root],
    ['root', 'wrong'],
    ['zoe', PASSWORDS.zoe],
    ['sshd', 'wrong'],
  ]

  const answers = await Promise.all(tries.map(([username, password]) => login(service, username, password)))

  expect(answers.map(told)).toEqual(tries.map(() => told(answers[0])))
  expect(answers[0]).toMatchObject({ status: 401, body: { code: 'bad_credentials' } })
  expect((await login(service, 'bob', PASSWORDS.bob)).status).toBe(200)
})

test('the duration of a refusal does not tell an unknown account from a known one', async () => {
  const unknown: number[] = []
  const known: number[] = []
  for (let round = 0; round < 12; round += 1) {
    // As many as the service checks at once, so that none waits for another.
    const asked = Array.from({ length: 6 }, async (_, n) => {
      const isKnown = (n + round) % 2 === 0
      const { ms } = await login(service, isKnown ? 'bob' : `nobody${n}`, `wrong${round}`)
      ;(isKnown ? known : unknown).push(ms)
    })
    await Promise.all(asked)
  }

  const slower = known.flatMap((ms) => unknown.map((other) => Number(ms > other)))
  const share = slower.reduce((sum, each) => sum + each, 0) / slower.length
  console.log(
    `known: ${figures(known)}; unknown: ${figures(unknown)}; known slower in ${share.toFixed(2)} of all pairs`,
  )
  // PAM randomises its delay between 0.5 and 1.5 times its nominal value. With 36 samples of each kind, the share is
  // about 0.5 ± 0.1 if the distributions are equal (Mann-Whitney U test), and near 0 or 1 if they differ.
  expect(share).toBeGreaterThan(0.1)
  expect(share).toBeLessThan(0.9)
})

/** Returns the answer without the headers that differ with every request. */
function told(answer: Answer | undefined) {
  const headers = new Map(answer?.headers)
  for (const name of ['date', 'x-request-id']) expect(headers.delete(name)).toBe(true)
  return { status: answer?.status, body: answer?.body, headers }
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function figures(values: number[]): string {
  return `${values.length} answers in ${Math.round(Math.min(...values))} to ${Math.round(Math.max(...values))} ms, median ${Math.round(median(values))} ms`
}
