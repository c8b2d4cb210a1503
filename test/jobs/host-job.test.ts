import { beforeEach, expect, test } from 'vitest'
import { createHost, type Host } from '../../ssh/host.ts'
import { createHostJob, StartNotAttempted } from '../../jobs/host-job.ts'
import type { AnyJobKind } from '../../jobs/kind.ts'
import { createLog } from '../../platform/log.ts'
import { SshError } from '../../ssh/connection.ts'

const kind: AnyJobKind = {
  kind: 'test',
  event: 'test',
  queue: () => '',
  prepare: async () => ({ command: ['true'] }),
  leftovers: async () => undefined,
  answer: async () => undefined,
  result: async () => ({ statements: [] }),
}

let now = 0
beforeEach(() => {
  now = 0
})

/** A job on a host that gives these answers in order, and then repeats the last one. */
function jobAt(...answers: (SshError | { code: number; stderr: string })[]) {
  const { log } = createLog({ level: 'silent', pretty: false, write: () => {} })
  let calls = 0
  const exec: Host['exec'] = async () => {
    const answer = answers[Math.min(calls, answers.length - 1)]
    calls += 1
    now += 60_000
    if (answer instanceof SshError || answer === undefined) throw answer
    return { stdout: '', ...answer }
  }
  const unasked = () => Promise.reject(new Error('not asked for'))
  const settings = { sshServer: unasked, sshAccount: unasked, pinHostKey: unasked }
  const host = { ...createHost({ settings, log }), exec }
  const { signal } = new AbortController()
  const job = createHostJob({ host, log, signal, clock: () => now }, kind, {
    id: '1-abcdefgh',
    name: 'abcdefgh',
    args: {},
    mostOutput: 1024,
  })
  return { start: () => job.start(async () => {}, { askedBefore: false }), calls: () => calls }
}

const BEGUN = { code: 0, stderr: '' }

test.each(['lost', 'unanswered'] as const)(
  'a host that may have received the start of a job (%s) is asked again until it confirms the start',
  async (reason) => {
    const { start, calls } = jobAt(new SshError(reason, 'silence'), new SshError('unreachable', 'personne'), BEGUN)

    await start()

    expect(calls()).toBe(3)
  },
)

test.each(['unreachable', 'refused', 'bad_credentials', 'host_key_changed'] as const)(
  'a host that was never asked to start a job (%s) has not started it',
  async (reason) => {
    const { start, calls } = jobAt(new SshError(reason, 'non'))

    await expect(start()).rejects.toThrow(StartNotAttempted)

    expect(calls()).toBe(1)
  },
)

test('a host that does not answer for five minutes may still have started the job', async () => {
  const { start } = jobAt(new SshError('unanswered', 'silence'))

  const error = await start().catch((thrown: unknown) => thrown)

  expect(error).toBeInstanceOf(SshError)
  expect(error).not.toBeInstanceOf(StartNotAttempted)
}, 30_000)
