import { expect, test } from 'vitest'
import { startDemo } from '../runtime/demo.ts'
import { beforeScript, jobService, listen, movedClock, starts } from './job-service.ts'
import { controlledOutput } from '../runtime/upgrade-output.ts'

const FIVE_MINUTES = 300_000

test('a connection that is lost five times loses and repeats no byte, and subscribers notice nothing', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, hub, start, ended, output: stored } = await jobService(demo)
  const id = await start(jobs, 'lxc:101')
  const subscriber = listen(hub, id)

  for (let round = 0; round < 5; round += 1) {
    output.print(`avant la coupure ${round} `)
    // The cut goes through a character.
    output.print(Buffer.from([0xe2, 0x82]))
    await expect.poll(() => stored(id), { timeout: 5_000 }).toMatch(new RegExp(`coupure ${round} $`))
    demo.cut()
    output.print(Buffer.from([0xac]))
    output.print(' pendant, ')
  }
  output.end()

  expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0, error: null })
  expect(await stored(id)).toBe(output.text())
  expect(output.text().match(/€/g)).toHaveLength(5)
  expect(starts(demo)).toHaveLength(1)
  expect(subscriber.text()).toBe(output.text())
  expect(subscriber.events.at(-1)).toMatchObject({ type: 'update_done', data: { job_id: id } })
})

test('connections that are lost during heavy output lose no byte', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, hub, row, start, ended, output: stored } = await jobService(demo)
  const id = await start(jobs, 'lxc:101')
  const subscriber = listen(hub, id)

  for (let round = 0; round < 5; round += 1) {
    const { output_size } = await row(id)
    for (let line = 0; line < 3_000; line += 1) output.print(`ligne ${round}.${line} ${'é'.repeat(line % 60)}\n`)
    await expect
      .poll(async () => (await row(id)).output_size, { interval: 1, timeout: 5_000 })
      .toBeGreaterThan(output_size)
    demo.cut()
  }
  output.end()

  expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0 })
  expect((await stored(id)) === output.text()).toBe(true)
  expect(subscriber.text() === output.text()).toBe(true)
})

test('a host that is unreachable for five minutes ends the job with an error that says so; the stored output stays', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { elapsed, pass } = movedClock()
  const { jobs, hub, start, row, ended, output: stored, lines } = await jobService(demo, { elapsed })
  const cleaned = beforeScript(demo, 'clean')
  const id = await start(jobs, 'lxc:101')
  const { events } = listen(hub, id)
  output.print('avant la coupure\n')
  await expect.poll(() => stored(id)).toBe('avant la coupure\n')

  demo.accepting = false
  demo.cut()
  const missed = () => lines().filter((line) => line.includes('the host is not reached')).length
  await expect.poll(missed).toBe(2)
  pass(FIVE_MINUTES - 1)
  await expect.poll(missed).toBe(3)
  expect(await row(id)).toMatchObject({ status: 'running', error: null })
  pass(1)

  const { error, error_code, exit_code, output_size } = await ended(id)
  expect({ error_code, exit_code }).toEqual({ error_code: 'ssh_failed', exit_code: null })
  expect(error).toMatch(/^Erreur SSH : ./)
  expect(await stored(id)).toBe('avant la coupure\n')
  expect(events.at(-1)).toEqual({
    type: 'update_error',
    topic: `update:${id}`,
    seq: output_size,
    data: { error },
  })
  // The job may still run on the host, so its folder stays for inspection.
  demo.accepting = true
  expect(cleaned()).toBe(0)
})

test('a job is followed again when the host comes back in time', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { elapsed, pass } = movedClock()
  const { jobs, start, ended, output: stored, lines } = await jobService(demo, { elapsed })
  const id = await start(jobs, 'lxc:101')
  output.print('avant, ')
  await expect.poll(() => stored(id)).toBe('avant, ')

  demo.accepting = false
  demo.cut()
  await expect.poll(() => lines().filter((line) => line.includes('the host is not reached')).length).toBe(2)
  pass(FIVE_MINUTES - 1)
  output.print('pendant, ')
  demo.accepting = true
  await expect.poll(() => stored(id), { timeout: 5_000 }).toBe('avant, pendant, ')
  // The five minutes start again here.
  demo.cut()
  pass(FIVE_MINUTES - 1)
  output.print('après')
  output.end()

  expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0 })
  expect(await stored(id)).toBe('avant, pendant, après')
})

test('a job whose folder is gone ends at once with an error that says so; the stored output stays', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, start, ended, output: stored } = await jobService(demo)
  const followed = beforeScript(demo, 'follow', (times, machine) => {
    if (times === 1) machine.jobs.clear()
  })
  const id = await start(jobs, 'lxc:101')
  output.print('avant')
  await expect.poll(() => stored(id)).toBe('avant')

  demo.cut()

  expect(await ended(id)).toMatchObject({
    status: 'error',
    error: 'Erreur SSH : le dossier de la tâche a disparu de l’hôte',
    error_code: 'job_folder_missing',
    exit_code: null,
  })
  expect(await stored(id)).toBe('avant')
  expect(followed()).toBe(2)
})

test('a job that a reboot of the host ended fails as soon as the host is back; the stored output stays', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, start, ended, output: stored } = await jobService(demo)
  const followed = beforeScript(demo, 'follow')
  const id = await start(jobs, 'lxc:101')
  output.print('avant')
  await expect.poll(() => stored(id)).toBe('avant')

  demo.reboot()

  expect(await ended(id)).toMatchObject({
    status: 'error',
    error: 'Erreur SSH : l’hôte a redémarré avant la fin de la tâche',
    error_code: 'host_rebooted',
    exit_code: null,
  })
  expect(await stored(id)).toBe('avant')
  expect(followed()).toBe(2)
})

test('a host that is unreachable at the start of a job is tried once', async () => {
  const demo = await startDemo()
  const { jobs, start, ended, lines } = await jobService(demo)
  demo.accepting = false

  expect(await ended(await start(jobs, 'lxc:101'))).toMatchObject({ status: 'error', error_code: 'ssh_failed' })

  expect(lines().join('')).not.toContain('the host is not reached')
})

test('a start whose answer is lost is repeated, and the job runs once', async () => {
  const demo = await startDemo()
  let runs = 0
  demo.upgradeOutput = async function* () {
    runs += 1
    yield `passage ${runs}\n`
  }
  const asked = beforeScript(demo, 'start', (times) => {
    // The host starts the job, and its answer is lost.
    if (times < 2) demo.cut()
  })
  const { jobs, start, ended, output } = await jobService(demo)

  const id = await start(jobs, 'lxc:101')

  expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0, launched: true })
  expect(await output(id)).toBe('passage 1\n')
  expect(asked()).toBe(3)
  expect(runs).toBe(1)
})

test('after a start whose answer is lost, an unreachable host is retried, because the job may run there', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { elapsed, pass } = movedClock()
  beforeScript(demo, 'start', (times) => {
    if (times > 0) return
    demo.accepting = false
    demo.cut()
  })
  const { jobs, start, row, ended, lines, output: stored } = await jobService(demo, { elapsed })
  const id = await start(jobs, 'lxc:101')
  await expect.poll(() => lines().filter((line) => line.includes('the host is not reached')).length).toBe(2)
  pass(FIVE_MINUTES - 1)
  expect(await row(id)).toMatchObject({ status: 'running', launched: false })

  demo.accepting = true
  output.print('fait')
  output.end()

  expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0 })
  expect(await stored(id)).toBe('fait')
})

test('a start that the host refuses ends the job at once, with the error of the host', async () => {
  const demo = await startDemo()
  const asked = beforeScript(demo, 'start', () => Promise.resolve(73))
  const { jobs, start, ended } = await jobService(demo)

  expect(await ended(await start(jobs, 'lxc:101'))).toMatchObject({
    status: 'error',
    error: 'Erreur SSH : la tâche n’a pas démarré (code 73)',
    launched: false,
  })
  expect(asked()).toBe(1)
})
