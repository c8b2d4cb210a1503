import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { freshAddress, login, signedIn } from './client.ts'
import { debian13, type OtherRig, PASSWORDS } from './rig.ts'
import { answerTo, askedAfterPassword, askedBy, askForCode, BY_PROMPTS, CODE } from './second-factor.ts'
import { type Service, startService } from './service.ts'

/** A login waits for 100 s, and all that wait end within 15 s after that. */
const ALL_END_MS = 130_000

let host: OtherRig
let service: Service
beforeAll(async () => {
  host = await debian13()
  await askForCode((script) => host.rig('in', 'host', 'sh', '-c', script))
  const lines = [...BY_PROMPTS, 'MaxStartups 60'].map((line) => `'${line}'`).join(' ')
  await host.rig('in', 'host', 'sh', '-c', `printf '%s\\n' ${lines} >/etc/ssh/sshd_config.d/00-prompts.conf`)
  await host.rig('in', 'host', 'pkill', '-HUP', '-x', 'sshd')
  await vi.waitUntil(async () => (await host.rig('status')).includes('sshd answers'), { timeout: 10_000 })
  service = await startService({ env: { PANEL_SSH_HOST: host.sshHost } })
}, 300_000)
afterAll(async () => {
  await service?.stop()
  await host?.rig('down')
})

const sshdLog = () => host.rig('log')
/** Returns sshd's own count of connections that have not signed in. */
const open = async () => {
  const titles = await host.rig('in', 'host', 'pgrep', '-af', '[[]listener[]]')
  return Number(/\[listener\] (\d+) of/.exec(titles)?.[1] ?? Number.NaN)
}

test('wrong answers of strangers keep out nobody whose address has signed in before', async () => {
  const home = freshAddress()
  const { challenge } = await askedAfterPassword(service, 'bob', home)
  signedIn(service, await answerTo(service, challenge, CODE))
  const wrong = Array.from({ length: 8 }, async () => {
    const asked = await login(service, 'alice', PASSWORDS.alice)
    return asked.status === 401 ? answerTo(service, askedBy(asked).challenge, '000000') : asked
  })

  for (let n = 0; n < 3; n += 1) {
    await pause(1_500)
    const asked = await askedAfterPassword(service, 'bob', home)
    expect((await answerTo(service, asked.challenge, CODE)).status).toBe(200)
  }

  const answers = await Promise.all(wrong)
  expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(2)
  expect(answers.every(({ status }) => status === 401 || status === 503)).toBe(true)
  expect(await sshdLog()).not.toContain('drop connection')
}, 120_000)

test('twenty questions that nobody answers end in time, and sshd never refuses the service for them', async () => {
  const began = Date.now()
  const asked = await Promise.all(Array.from({ length: 20 }, () => login(service, 'bob', PASSWORDS.bob)))
  const waiting = asked.filter(({ status }) => status === 401).map((answer) => askedBy(answer).challenge)
  expect(waiting.length).toBeGreaterThanOrEqual(15)
  expect(await open()).toBeGreaterThanOrEqual(waiting.length)

  await expect.poll(open, { timeout: ALL_END_MS, interval: 1_000 }).toBe(0)

  expect(Date.now() - began).toBeGreaterThan(95_000)
  expect(Date.now() - began).toBeLessThan(119_000)
  const [challenge = ''] = waiting
  expect(await answerTo(service, challenge, CODE)).toMatchObject({ status: 410, body: { code: 'challenge_over' } })
  const again = await askedAfterPassword(service, 'bob')
  expect((await answerTo(service, again.challenge, CODE)).status).toBe(200)
  expect(await sshdLog()).not.toContain('drop connection')
  expect(await sshdLog()).not.toContain('Timeout before authentication')
}, 200_000)
