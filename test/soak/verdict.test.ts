import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Census } from './census.ts'
import type { FaultName } from './faults.ts'
import { createFindings, type Findings, WRONGS } from './findings.ts'
import { createLedger, signInsOf } from './ledger.ts'
import { createReceived } from './received.ts'
import { readOutput, type StoredJob } from './stored.ts'
import { judgeCensus, judgeFaults, judgeJobs, judgeSignIns } from './verdict.ts'
import { createWeather } from './weather.ts'

const PRINTED = 'soak run 0\npremière œuvre 設定\r\n'
const RUN = { number: 0, place: '9001', size: Buffer.byteLength(PRINTED), sha256: sha256(PRINTED), whole: true }

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function storedJob(text: string, more: Partial<StoredJob> = {}): StoredJob {
  const read = readOutput(Buffer.from(text), [RUN])
  return { id: 'a', status: 'success', error: null, errorCode: null, startedAt: 100, endedAt: 200, ...read, ...more }
}

/** Returns the counts of findings for one acknowledged job with these followers and stored outputs. */
function found({
  stored = [storedJob(PRINTED)],
  pieces = [[PRINTED, RUN.size]],
  runs = [RUN],
  hostAway = false,
  cancelled = false,
  unfollowed = false,
  finals = 1,
}: {
  stored?: StoredJob[]
  pieces?: [chunk: string, end: number][]
  runs?: (typeof RUN)[]
  hostAway?: boolean
  cancelled?: boolean
  unfollowed?: boolean
  finals?: number
}): Record<string, number> {
  const ledger = createLedger()
  ledger.jobs.set('a', 'soak-0')
  if (cancelled) ledger.cancelled.add('a')
  const received = createReceived()
  for (const piece of pieces) received.take(...piece)
  for (let told = 0; told < finals; told += 1) received.finish(pieces.at(-1)?.[1] ?? 0)
  if (!unfollowed) ledger.followed.push({ id: 'a', how: 'socket', output: received.result() })
  let now = 150
  const weather = createWeather(() => now)
  if (hostAway) {
    const end = weather.begin('host')
    now = 160
    end()
  }
  const findings = createFindings()
  judgeJobs({ ledger, stored, runs, weather }, findings)
  return counts(findings)
}

function counts(findings: Findings): Record<string, number> {
  const all = WRONGS.map(({ wrong }): [string, number] => [wrong, findings.count(wrong)])
  return Object.fromEntries(all.filter(([, count]) => count > 0))
}

const WAITED = 'En attente de la fin de la tâche 1700000000-abcdefgh (lxc:9001)…\n'

test('a job whose stored and followed output equals the printed one has no findings', () => {
  expect(found({})).toEqual({})
})

test('a job that waited and a cancelled job have no findings, although the service adds text to their output', () => {
  const ended = `${PRINTED}dpkg n’a rien laissé d’inachevé.\nAnnulé par soak-0`

  for (const times of [1, 2, 20]) {
    const waited = `${WAITED.repeat(times)}${PRINTED}`
    expect(found({ stored: [storedJob(waited)], pieces: [[waited, Buffer.byteLength(waited)]] })).toEqual({})
  }
  const cancelled = { stored: [storedJob(ended, { status: 'error', errorCode: 'cancelled' })], cancelled: true }
  expect(found({ ...cancelled, pieces: [[ended, Buffer.byteLength(ended)]] })).toEqual({})
})

test.each<[string, Parameters<typeof found>[0], Record<string, number>]>([
  [
    'a follower that missed a byte',
    {
      pieces: [
        ['s', 1],
        [PRINTED.slice(2), RUN.size],
      ],
    },
    { lost: 1, different: 1 },
  ],
  [
    'a follower that missed the last byte',
    { pieces: [[PRINTED.slice(0, -1), RUN.size - 1]] },
    { lost: 1, different: 1 },
  ],
  [
    'a follower that got a byte twice',
    {
      pieces: [
        [PRINTED, RUN.size],
        ['\n', RUN.size],
      ],
    },
    { repeated: 1 },
  ],
  ['a follower that got another byte', { pieces: [[PRINTED.replace('œ', 'Œ'), RUN.size]] }, { different: 1 }],
  ['a final event that was sent twice', { finals: 2 }, { finals: 1 }],
  ['an acknowledged job that is not recorded', { stored: [], runs: [], unfollowed: true }, { jobMissing: 1 }],
  ['an unrecorded job whose command ran', { stored: [], unfollowed: true }, { jobMissing: 1, jobTwice: 1 }],
  ['a job that is still running', { stored: [storedJob(PRINTED, { status: 'running' })] }, { jobStuck: 1 }],
  ['a command that was run twice for a job', { runs: [RUN, { ...RUN, number: 1 }] }, { jobTwice: 1 }],
  [
    'an output that was stored without its last byte',
    { stored: [storedJob(PRINTED.slice(0, -1))], pieces: [[PRINTED.slice(0, -1), RUN.size - 1]] },
    { lost: 1 },
  ],
  [
    'an output that was stored with another byte',
    { stored: [storedJob(PRINTED.replace('\r', '\t'))], pieces: [[PRINTED.replace('\r', '\t'), RUN.size]] },
    { different: 1 },
  ],
  [
    'an output that was stored with an additional byte',
    { stored: [storedJob(`${PRINTED}\n`)], pieces: [[`${PRINTED}\n`, RUN.size + 1]] },
    { different: 1 },
  ],
  [
    'a job that failed after its start while the host was down',
    { stored: [storedJob(PRINTED, { status: 'error', errorCode: 'ssh_failed' })], hostAway: true },
    { jobFailed: 1, different: 1 },
  ],
  [
    'a job that failed before its start while the host was up',
    { stored: [storedJob('', { status: 'error', errorCode: 'ssh_failed' })], pieces: [], runs: [] },
    { jobFailed: 1 },
  ],
  [
    'a cancelled job that nobody cancelled',
    { stored: [storedJob('Annulé par x', { status: 'error', errorCode: 'cancelled' })], runs: [], unfollowed: true },
    { jobFailed: 1 },
  ],
  [
    'an acknowledged job that ended with a storage error',
    { stored: [storedJob('', { status: 'error', errorCode: 'storage_failed' })], pieces: [], runs: [] },
    { jobFailed: 1 },
  ],
])('the verdict finds %s', (_, planted, expected) => {
  expect(found(planted)).toEqual(expected)
})

test('a job that fails before its start while the host is down is no finding', () => {
  const stored = [storedJob('', { status: 'error', errorCode: 'ssh_failed' })]

  expect(found({ stored, pieces: [], runs: [], hostAway: true })).toEqual({})
})

test('the verdict finds a login without an audit entry, and an entry without a login', () => {
  const ledger = createLedger()
  Object.assign(signInsOf(ledger, 'a'), { acknowledged: 3, unanswered: 1 })
  const judged = (count: number) => {
    const findings = createFindings()
    judgeSignIns(ledger, new Map([['a', count]]), findings)
    return counts(findings)
  }

  expect([2, 3, 4, 5].map(judged)).toEqual([{ forgotten: 1 }, {}, {}, { unexpected: 1 }])
})

const HELD: Census = { clientSockets: 0, hostSockets: 6, files: 1, database: 3, timers: 9, heap: 25, pss: 110 }

test.each<[string, Partial<Census>, Record<string, number>]>([
  ['no growth', {}, {}],
  ['a socket of a client', { clientSockets: 1 }, { socketLeak: 1 }],
  ['more connections to the host than the pools keep', { hostSockets: 42 }, { hostLeak: 2 }],
  ['open files', { files: 20 }, { fileLeak: 17 }],
  ['descriptors of the database', { database: 300 }, { fileLeak: 97 }],
  ['timers', { timers: 100 }, { timerLeak: 31 }],
  ['memory of JavaScript', { heap: 40 }, { memory: 3 }],
  ['memory of the process', { pss: 300 }, { memory: 94 }],
])('the census at the end counts as a leak: %s', (_, more, expected) => {
  const findings = createFindings()
  const end = { ...HELD, ...more }

  judgeCensus({ half: HELD, end, left: end, seen: end.hostSockets }, findings)

  expect(counts(findings)).toEqual(expected)
})

test('a connection that only one end counts is a leak', () => {
  const findings = createFindings()

  judgeCensus({ half: HELD, end: HELD, left: HELD, seen: 7 }, findings)

  expect(counts(findings)).toEqual({ hostLeak: 1 })
})

test.each([
  ['a fault that did not strike', { cut: 2 }, 5, 1, 1],
  ['cuts without a cut connection', { cut: 2, kill: 1 }, 0, 2, 1],
  ['a service that was not killed', { cut: 2, kill: 1 }, 5, 1, 1],
  ['no faults without effect', { cut: 2, kill: 1 }, 5, 2, 0],
] as const)('the verdict finds %s', (_, struck, cuts, lives, expected) => {
  const findings = createFindings()
  const counts = new Map<FaultName, number>([['cut', struck.cut]])
  if ('kill' in struck) counts.set('kill', struck.kill)
  judgeFaults({ faults: ['cut', 'kill'], struck: counts, cuts, lives }, findings)

  expect(findings.count('noFault')).toBe(expected)
})
