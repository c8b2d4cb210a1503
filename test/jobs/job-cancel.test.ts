import { expect, test } from 'vitest'
import { requestCancel } from '../../db/jobs.ts'
import { appendOutput } from '../db/job.ts'
import { startDemo } from '../runtime/demo.ts'
import { beforeScript, jobService, listen } from './job-service.ts'
import { controlledOutput } from '../runtime/upgrade-output.ts'

/** The end of the output of a cancelled upgrade that did not interrupt dpkg. */
const NOTHING_LEFT = 'dpkg n’a rien laissé d’inachevé.\nAnnulé par bob'

/** A job that has printed a line and runs until it is cancelled. */
async function running(first = 'un\n') {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const service = await jobService(demo)
  const id = await service.start(service.jobs, 'lxc:101')
  output.print(first)
  await expect.poll(() => service.output(id)).toBe(first)
  const cancelled = beforeScript(demo, 'cancel')
  return { ...service, demo, print: output, id, cancelled }
}

test('a running job ends on the host; its output stays and ends with the name of the user who cancelled it', async () => {
  const { jobs, hub, demo, id, ended, output, cancelled } = await running()
  const subscriber = listen(hub, id)
  const cleaned = beforeScript(demo, 'clean')

  expect(await jobs.cancel(id, 'bob')).toBe(true)

  const row = await ended(id)
  expect(row).toMatchObject({
    status: 'error',
    error: 'Annulé par bob',
    error_code: 'cancelled',
    exit_code: 143,
    cancelled_by: 'bob',
    finished_at: expect.any(String),
  })
  expect(await output(id)).toBe(`un\n${NOTHING_LEFT}`)
  expect(subscriber.text(3)).toBe(NOTHING_LEFT)
  expect(subscriber.events.at(-1)).toEqual({
    type: 'update_error',
    topic: `update:${id}`,
    seq: row.output_size,
    data: { error: 'Annulé par bob' },
  })
  expect(cancelled()).toBe(1)
  await expect.poll(cleaned).toBe(1)
})

test('the text about the cancellation starts on a new line', async () => {
  const { jobs, id, ended, output } = await running('un demi')

  await jobs.cancel(id, 'bob')

  await ended(id)
  expect(await output(id)).toBe(`un demi\n${NOTHING_LEFT}`)
})

test('packages that dpkg left unfinished are named before the end', async () => {
  const { jobs, demo, id, ended, output } = await running()
  const others = demo.override
  demo.override = (words, process) => {
    if (words[0] !== 'dpkg-query' || process.place.id !== '101') return others?.(words, process)
    return process.stdout('installed base-files\nhalf-configured nginx\nunpacked libssl3:amd64\n').then(() => 0)
  }

  await jobs.cancel(id, 'bob')

  await ended(id)
  expect(await output(id)).toBe(
    'un\ndpkg a été interrompu (LXC 101) : nginx, libssl3:amd64. La prochaine mise à jour répare d’abord.\nAnnulé par bob',
  )
})

test('after cancelling an upgrade of all, a running container that does not answer is named, and a stopped one is not', async () => {
  const demo = await startDemo()
  const print = controlledOutput(demo)
  const { jobs, start, ended, output } = await jobService(demo)
  demo.override = (words, { place }) =>
    words[0] === 'dpkg-query' && place.id === '101' ? Promise.resolve(2) : undefined
  const id = await start(jobs, 'all')
  print.print('un\n')
  await expect.poll(() => output(id)).toContain('un\n')

  await jobs.cancel(id, 'bob')

  await ended(id)
  expect(await output(id)).toMatch(/un\n(SKIP .*\n)*L’état de dpkg n’a pas pu être lu \(LXC 101\)\.\nAnnulé par bob$/)
})

test('a job that two users cancel names the first one', async () => {
  const { jobs, id, ended, output, cancelled } = await running()

  expect(await jobs.cancel(id, 'bob')).toBe(true)
  expect(await jobs.cancel(id, 'alice')).toBe(true)

  expect(await ended(id)).toMatchObject({ error: 'Annulé par bob' })
  expect(await output(id)).not.toContain('alice')
  expect(cancelled()).toBe(1)
})

test('an ended or missing job cannot be cancelled', async () => {
  const { jobs, print, id, ended, row } = await running()
  print.end()
  await ended(id)

  expect(await jobs.cancel(id, 'bob')).toBe(false)
  expect(await jobs.cancel('1700000000-abcdefgh', 'bob')).toBe(false)

  expect(await row(id)).toMatchObject({ status: 'success', cancelled_by: null })
})

test('a queued job that is cancelled ends at once, and the host is not asked', async () => {
  const { jobs, hub, start, demo, id: first, output, ended, row } = await running()
  const id = await start(jobs, 'lxc:101')
  const subscriber = listen(hub, id)
  await expect.poll(() => output(id)).toContain('En attente')
  const before = demo.commands.length

  await jobs.cancel(id, 'bob')

  expect(await ended(id)).toMatchObject({ status: 'error', error: 'Annulé par bob', launched: false, exit_code: null })
  expect(await output(id)).toBe(`En attente de la fin de la tâche ${first} (lxc:101)…\nAnnulé par bob`)
  expect(subscriber.events.at(-1)).toMatchObject({ type: 'update_error', data: { error: 'Annulé par bob' } })
  expect(demo.commands).toHaveLength(before)
  expect(await row(first)).toMatchObject({ status: 'running' })
})

test('a job that is cancelled during its start ends as soon as it has started', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, start, ended, output: stored } = await jobService(demo)
  let wanted: Promise<boolean> | undefined
  const ids: string[] = []
  beforeScript(demo, 'start', () => {
    wanted = jobs.cancel(ids[0] ?? '', 'bob')
    return undefined
  })
  ids.push(await start(jobs, 'lxc:101'))
  const [id = ''] = ids

  expect(await ended(id)).toMatchObject({ status: 'error', error: 'Annulé par bob', exit_code: 143 })
  expect(await wanted).toBe(true)
  expect(await stored(id)).toBe(NOTHING_LEFT)
  output.end()
})

test('a job can be cancelled at another instance than its follower', async () => {
  const { jobs, again, id, ended, output } = await running()
  const other = again()
  const subscriber = listen(other.hub, id)
  other.jobs.relay('update', id, 3)

  expect(await other.jobs.cancel(id, 'bob')).toBe(true)
  await other.jobs.maintain()
  await jobs.maintain()

  expect(await ended(id)).toMatchObject({ error: 'Annulé par bob', exit_code: 143, epoch: 1 })
  expect(await output(id)).toBe(`un\n${NOTHING_LEFT}`)
  await expect
    .poll(() => subscriber.events.at(-1))
    .toMatchObject({ type: 'update_error', data: { error: 'Annulé par bob' } })
  expect(subscriber.text(3)).toBe(NOTHING_LEFT)
})

test('a job that was cancelled before a restart ends after it', async () => {
  const { jobs, again, db, id, ended, output, cancelled } = await running()
  await requestCancel(db, id, 'bob')
  await jobs.stop()
  expect(cancelled()).toBe(0)

  await again().jobs.maintain()

  expect(await ended(id)).toMatchObject({ error: 'Annulé par bob', exit_code: 143, epoch: 2 })
  expect(await output(id)).toBe(`un\n${NOTHING_LEFT}`)
})

test('a job that was cancelled while queued does not start after a restart', async () => {
  const { jobs, again, db, start, demo, id: first, ended, output } = await running()
  const id = await start(jobs, 'lxc:101')
  await expect.poll(() => output(id)).toContain('En attente')
  await jobs.stop()
  await requestCancel(db, id, 'bob')
  const begun = beforeScript(demo, 'start')

  await again().jobs.maintain()

  expect(await ended(id)).toMatchObject({ error: 'Annulé par bob', launched: false })
  expect(await output(id)).toBe(`En attente de la fin de la tâche ${first} (lxc:101)…\nAnnulé par bob`)
  expect(begun()).toBe(0)
})

test('a job whose instance died before it recorded the start is ended on the host', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, again, db, start, ended, output: stored } = await jobService(demo)
  const begun = beforeScript(demo, 'start', (_, machine) => {
    // The job starts, and its instance gets no answer.
    setImmediate(() => lost.push(...machine.jobs.values()))
    return undefined
  })
  const lost: { code: number | undefined }[] = []
  const id = await start(jobs, 'lxc:101')
  output.print('un\n')
  await expect.poll(() => stored(id)).toBe('un\n')
  await jobs.stop()
  await db.run('UPDATE jobs SET launched = 0')
  await requestCancel(db, id, 'bob')

  await again().jobs.maintain()

  expect(await ended(id)).toMatchObject({ error: 'Annulé par bob', exit_code: null })
  expect(lost.map(({ code }) => code)).toEqual([143])
  expect(begun()).toBe(1)
})

test('cancelling continues after a lost connection', async () => {
  const { jobs, demo, id, ended, output } = await running()
  const asked = beforeScript(demo, 'cancel', (times) => {
    if (times === 0) {
      demo.cut()
      return new Promise(() => {})
    }
    return undefined
  })

  await jobs.cancel(id, 'bob')

  expect(await ended(id)).toMatchObject({ error: 'Annulé par bob', exit_code: 143 })
  expect(await output(id)).toBe(`un\n${NOTHING_LEFT}`)
  expect(asked()).toBe(2)
})

test('a failed cancellation is retried by the next request and at each renewal of the lease', async () => {
  const { jobs, demo, id, row, ended, lines } = await running()
  const failed = () => lines().filter((line) => line.includes('a cancelled job left processes behind')).length
  const asked = beforeScript(demo, 'cancel', (times) => (times < 2 ? Promise.resolve(1) : undefined))

  await jobs.cancel(id, 'bob')
  await expect.poll(failed).toBe(1)
  expect(await row(id)).toMatchObject({ status: 'running' })

  await jobs.cancel(id, 'bob')
  await expect.poll(failed).toBe(2)
  expect(await row(id)).toMatchObject({ status: 'running' })

  await jobs.maintain()
  expect(await ended(id)).toMatchObject({ error: 'Annulé par bob', exit_code: 143 })
  expect(asked()).toBe(3)
})

test('a job whose command ends by itself during the cancellation counts as cancelled, with its exit code', async () => {
  const { jobs, print, demo, id, ended, output } = await running()
  beforeScript(demo, 'cancel', () => {
    print.print('deux\n')
    print.end()
    return Promise.resolve(0)
  })

  await jobs.cancel(id, 'bob')

  expect(await ended(id)).toMatchObject({ status: 'error', error: 'Annulé par bob', exit_code: 0 })
  expect(await output(id)).toBe(`un\ndeux\n${NOTHING_LEFT}`)
})

test('the output of a cancelled job that the host has lost reports both', async () => {
  const { jobs, demo, id, ended, output } = await running()
  beforeScript(demo, 'cancel', () => {
    demo.reboot()
    return Promise.resolve(0)
  })

  await jobs.cancel(id, 'bob')

  expect(await ended(id)).toMatchObject({ error: 'Annulé par bob', error_code: 'cancelled', exit_code: null })
  // The host can be asked about dpkg only if it is back.
  expect(await output(id)).toMatch(/^un\nErreur SSH : l’hôte a redémarré .*\n(dpkg .*\n)?Annulé par bob$/)
})

test('the text of a cancellation that was stored before a restart, but not recorded as the end, is not repeated', async () => {
  const { jobs, again, db, row, id, ended, output } = await running()
  await jobs.stop()
  await requestCancel(db, id, 'bob')
  const { output_size, host_offset } = await row(id)
  const words = { offset: output_size, bytes: Buffer.from(NOTHING_LEFT) }
  await appendOutput(db, { id, epoch: 1 }, words, host_offset)

  await again().jobs.maintain()

  expect(await ended(id)).toMatchObject({ error: 'Annulé par bob', output_size: 3 + words.bytes.length })
  expect(await output(id)).toBe(`un\n${NOTHING_LEFT}`)
})
