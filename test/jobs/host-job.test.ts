import { beforeEach, expect, test } from 'vitest'
import { createHost, type Host } from '../../ssh/host.ts'
import { createHostJob, type HostJobKind, StartFailed, StartNotAttempted } from '../../jobs/host-job.ts'
import { PUT } from '../../jobs/program.ts'
import { START } from '../../jobs/script.ts'
import { createLog } from '../../platform/log.ts'
import { SshError } from '../../ssh/connection.ts'

const kind: HostJobKind = {
  prepare: async () => ({ command: ['true'] }),
  leftovers: async () => undefined,
  answer: async () => undefined,
}

let now = 0
/** How long each command takes, in ms. */
let step = 60_000
beforeEach(() => {
  now = 0
  step = 60_000
})

/** A job on a host that gives these answers in order, and then repeats the last one. */
function jobAt(...answers: (SshError | { code: number; stderr: string })[]) {
  return jobOf(kind, ...answers)
}

function jobOf(kind: HostJobKind, ...answers: (SshError | { code: number; stderr: string })[]) {
  const { log } = createLog({ level: 'silent', write: () => {} })
  const commands: (readonly string[])[] = []
  const exec: Host['exec'] = async (command, { rights } = {}) => {
    expect(rights).toBe('script')
    const answer = answers[Math.min(commands.length, answers.length - 1)]
    commands.push(command)
    now += step
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
  return {
    start: () => job.start(async () => {}, { askedBefore: false }),
    clean: () => job.clean(),
    calls: () => commands.length,
    commands,
  }
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
})

/** Two pieces, of which the first one ends before a character. */
const PROGRAM = `${'#'.repeat(23_999)}é\nprint 1;\n`
const withProgram: HostJobKind = { ...kind, prepare: async () => ({ command: ['perl', 'x'], program: PROGRAM }) }

const sent = (commands: readonly (readonly string[])[]) =>
  commands.map(([, , text, , , , number]) => (text === PUT ? Number(number) : text === START ? 'start' : text))

test('the pieces of a program are written in their order before the start, and give the program', async () => {
  const { start, commands } = jobOf(withProgram, BEGUN)

  await start()

  expect(sent(commands)).toEqual([1, 2, 'start'])
  expect(commands.slice(0, 2).map((words) => words[7])).toEqual(['#'.repeat(23_999), 'é\nprint 1;\n'])
  const [put = [], , begin = []] = commands
  expect(begin[7]).toBe(put[5])
  expect(begin.slice(-2)).toEqual(['perl', 'x'])
})

test.each(['lost', 'unanswered'] as const)(
  'after a connection that was %s between two pieces, all of them are written again',
  async (reason) => {
    const { start, commands } = jobOf(withProgram, BEGUN, new SshError(reason, 'silence'), BEGUN)

    await start()

    expect(sent(commands)).toEqual([1, 2, 1, 2, 'start'])
  },
)

test('a job whose program cannot be written is not started, and says why', async () => {
  const { start, commands } = jobOf(withProgram, BEGUN, { code: 75, stderr: 'x\nis the disk full?\n' })

  await expect(start()).rejects.toThrow(new StartFailed('is the disk full?'))

  expect(sent(commands)).toEqual([1, 2])
})

test.each(['lost', 'unanswered', 'unreachable'] as const)(
  'the folder of a job is removed, also when the connection is gone at first (%s)',
  async (reason) => {
    step = 1_000
    const { clean, calls } = jobAt(new SshError(reason, 'silence'), BEGUN)

    await clean()

    expect(calls()).toBe(2)
  },
)

test('a host that stays away does not hold the end of a job for ever', async () => {
  step = 10_000
  const { clean, calls } = jobAt(new SshError('unreachable', 'personne'))

  await clean()

  expect(calls()).toBe(6)
})
