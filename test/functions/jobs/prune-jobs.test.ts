import { describe, expect, test } from 'vitest'
import { endJob, findJob, type JobEnd, markLaunched } from '../../../db/jobs.ts'
import { readOutput, removeOldOutput } from '../../../db/output.ts'
import pruneJobs from '../../../functions/jobs/prune-jobs.task.ts'
import { CLEAN } from '../../../jobs/script.ts'
import { timestamp } from '../../../platform/clock.ts'
import { SshError } from '../../../ssh/connection.ts'
import { START, testApp } from '../../app.ts'
import { recordJob, storeOutput } from '../../db/job.ts'
import { rows } from '../answers.ts'

const SUCCESS = { status: 'success', error: null, error_code: null, exit_code: 0 } as const

/** The app with this many jobs, oldest first, each of which has printed its number and ended. */
async function withJobs(count: number, keep = 50) {
  const app = await testApp([], { env: { PANEL_KEEP_JOBS: String(keep) } })
  const add = async (id: string, { pieces = [id], ended = true } = {}) => {
    const job = await recordJob(app.db, id)
    await storeOutput(app.db, job, pieces)
    if (ended) await endJob(app.db, job, SUCCESS, { now: '' })
  }
  for (let at = 0; at < count; at += 1) await add(`job ${at}`)
  const withOutput = async () => (await rows(app.db, 'SELECT DISTINCT job_id FROM job_output')).map((row) => row.job_id)
  return { ...app, add, withOutput, forget: () => pruneJobs.run(app.services) }
}

test('the newest jobs keep their output; older ones keep their record, which says that the output is gone', async () => {
  const { forget, db, withOutput } = await withJobs(53)
  const before = await rows(db, 'SELECT id, status, target, exit_code, output_size FROM jobs ORDER BY rowid')

  await forget()

  expect((await withOutput()).sort()).toEqual(Array.from({ length: 50 }, (_, at) => `job ${at + 3}`).sort())
  expect(await rows(db, 'SELECT id, status, target, exit_code, output_size FROM jobs ORDER BY rowid')).toEqual(before)
  expect(await findJob(db, 'job 2')).toMatchObject({ output_size: 5, output_from: 5 })
  expect(await findJob(db, 'job 3')).toMatchObject({ output_size: 5, output_from: 0 })
  expect(await readOutput(db, 'job 2', 0, 100)).toEqual([])
})

test('nothing is removed while there are no more jobs than the limit', async () => {
  const { forget, withOutput } = await withJobs(50)

  await forget()

  expect(await withOutput()).toHaveLength(50)
})

test('a running job keeps its output, however many jobs are newer', async () => {
  const { add, forget, db, withOutput } = await withJobs(1)
  await add('runs', { ended: false })
  for (let at = 0; at < 50; at += 1) await add(`later ${at}`)

  await forget()

  expect(await withOutput()).toContain('runs')
  expect(await withOutput()).not.toContain('job 0')
  await endJob(db, { id: 'runs', epoch: 1 }, SUCCESS, { now: '' })
  await forget()
  expect(await withOutput()).not.toContain('runs')
})

test('a huge output is removed in pieces, and the rest stays readable', async () => {
  const { add, db, services } = await withJobs(0)
  await add('huge', { pieces: Array.from({ length: 300 }, (_, at) => `${String(at).padStart(3, '0')}\n`) })
  await add('new')
  const left: number[] = []

  for (;;) {
    const { output_from } = (await findJob(db, 'huge')) ?? { output_from: -1 }
    const chunks = await readOutput(db, 'huge', output_from, 1e6)
    left.push(chunks.length)
    expect(chunks[0]?.offset ?? 1200).toBe(output_from)
    if (!(await removeOldOutput(db, { kind: 'upgrade', keep: 1 }))) break
  }

  expect(left).toEqual([300, 172, 44, 0])
  await pruneJobs.run(services)
  expect(await readOutput(db, 'new', 0, 10)).toEqual([{ offset: 0, bytes: Buffer.from('new') }])
})

test('other writes get their turn between two deletions', async () => {
  const { add, forget, db } = await withJobs(0)
  await add('huge', { pieces: Array.from({ length: 1_000 }, () => 'x') })
  for (let at = 0; at < 50; at += 1) await add(`later ${at}`)
  let done = false
  const forgetting = forget().then(() => {
    done = true
  })

  let between = 0
  while (!done) {
    await db.run(`UPDATE settings SET value = value`)
    between += 1
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await forgetting

  expect(between).toBeGreaterThan(3)
  expect(await readOutput(db, 'huge', 0, 1)).toEqual([])
})

test('of checks the newest thousand are kept, and those that determine the state of a target', async () => {
  const { db, add, forget } = await withJobs(3)
  const check = async (id: string, target = 'lxc:999') => {
    const job = await recordJob(db, id, { kind: 'check', queue: '', target })
    await endJob(db, job, SUCCESS, { now: '' })
  }
  await check('of the host', 'host')
  await db.run("INSERT INTO checks (target, name, status, job_id) VALUES ('host', '', '', 'of the host')")
  for (let at = 0; at < 1_150; at += 1) await check(`check ${at}`)
  await add('job 3')

  await forget()

  const ids = (await rows(db, 'SELECT id FROM jobs ORDER BY rowid')).map(({ id }) => id)
  const kept = Array.from({ length: 1_000 }, (_, at) => `check ${at + 150}`)
  expect(ids).toEqual(['job 0', 'job 1', 'job 2', 'of the host', ...kept, 'job 3'])
})

describe('the folders of jobs on the host', () => {
  const at = (daysAgo: number) => timestamp(new Date(START.getTime() - daysAgo * 86_400_000))
  const end = { status: 'error', error: null, error_code: null, exit_code: 1 } as const

  /** The app with a job that has ended, and whose folder nobody has removed. */
  async function withFolder({ daysAgo = 0, launched = true, of = end as JobEnd } = {}) {
    let away = false
    const app = await testApp([], {
      fake: {
        exec() {
          if (away) throw new SshError('unreachable', 'personne')
          return {}
        },
      },
    })
    const job = await recordJob(app.db, 'job', { folder: 'folder-of-job' })
    if (launched) await markLaunched(app.db, job)
    await endJob(app.db, job, of, { now: at(daysAgo) })
    const removed = () => app.ran.filter(({ command }) => command[2] === CLEAN).map(({ command }) => command.slice(4))
    return { ...app, removed, prune: () => pruneJobs.run(app.services), goAway: (is: boolean) => (away = is) }
  }

  test('those that are left are removed once', async () => {
    const { prune, removed } = await withFolder()

    await prune()
    await prune()

    expect(removed()).toEqual([['folder-of-job']])
  })

  test('while the host is away, they are removed later', async () => {
    const { prune, removed, goAway, lines } = await withFolder()
    goAway(true)

    await prune()

    expect(lines().join('')).toContain('folders of ended jobs not removed')
    goAway(false)
    await prune()
    expect(removed()).toHaveLength(2)
    await prune()
    expect(removed()).toHaveLength(2)
  })

  test.each([
    ['of a job that the host never had', { launched: false }],
    ['of a job whose output could not be read to its end', { of: { ...end, exit_code: null } }],
    ['of a job that ended more than a week ago', { daysAgo: 8 }],
  ])('the folder %s stays', async (_, job) => {
    const { prune, removed } = await withFolder(job)

    await prune()

    expect(removed()).toEqual([])
  })
})
