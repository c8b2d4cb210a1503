import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'vitest'
import { script } from '../../ssh/command.ts'
import { CANCEL } from '../../jobs/script.ts'
import { type OnTestFinished, temporaryFolder } from '../db/folder.ts'
import { follow, kill, newJob, processesWith, run, runner, startJob } from '../ssh/host-shell.ts'

const cancel = (id: string) => run(script(CANCEL, 'ops-panel-job', id))

const running = (pid: number) =>
  access(`/proc/${pid}/stat`).then(
    () => true,
    () => false,
  )

/** Starts a job whose script gets a folder of its own as `$1`, and waits until the script has written `ready` there. */
async function begun(onTestFinished: OnTestFinished, text: string) {
  const { id, folder } = newJob(onTestFinished)
  const own = await temporaryFolder(onTestFinished)
  await startJob(id, ...script(text, 'cancelled', own))
  for (;;) {
    const there = await access(join(own, 'ready')).then(
      () => true,
      () => false,
    )
    if (there) break
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return { id, folder, own }
}

/** A script that runs until it gets a signal. */
const FOR_EVER = ': >"$1/ready"; while :; do sleep 0.05; done'

test.concurrent('cancelling ends the command by TERM, and returns after the exit code is written', async ({
  expect,
  onTestFinished,
}) => {
  const { id, folder, own } = await begun(onTestFinished, `echo begun; ${FOR_EVER}`)

  expect(await cancel(id)).toMatchObject({ code: 0, stderr: '' })

  expect(await readFile(join(folder, 'exit'), 'utf8')).toMatch(/^143 \d+\n/)
  const { stdout, stderr } = await follow(id).ended
  expect(stdout.toString()).toMatch(/^begun\n/)
  expect(stderr).toMatch(/^ops-panel exit 143 \d+\n$/)
  expect(await processesWith(own)).toBe(0)
})

test.concurrent('a follower of a cancelled job gets its end', async ({ expect, onTestFinished }) => {
  const { id } = await begun(onTestFinished, `echo begun; ${FOR_EVER}`)
  const { ended, seen } = follow(id)
  await expect.poll(seen).toBe('begun\n')

  await cancel(id)

  expect((await ended).stderr).toMatch(/^ops-panel exit 143 \d+\n$/)
})

test.concurrent('a command may clean up after TERM, and its own exit code counts', async ({
  expect,
  onTestFinished,
}) => {
  const { id } = await begun(onTestFinished, `trap 'echo tidied; exit 7' TERM; ${FOR_EVER}`)

  await cancel(id)

  const { stdout, stderr } = await follow(id).ended
  expect(stdout.toString()).toContain('tidied\n')
  expect(stderr).toMatch(/^ops-panel exit 7 \d+\n$/)
})

test.concurrent('a process that ignores TERM is killed after ten seconds, however long a scan of all processes takes', async ({
  expect,
  onTestFinished,
}) => {
  const { id, own } = await begun(onTestFinished, `trap '' TERM; ${FOR_EVER}`)
  const before = performance.now()

  expect(await cancel(id)).toMatchObject({ code: 0, stderr: '' })

  const took = performance.now() - before
  expect(took).toBeGreaterThan(9_900)
  // The service waits for 40 s.
  expect(took).toBeLessThan(20_000)
  expect((await follow(id).ended).stderr).toMatch(/^ops-panel exit 137 \d+\n$/)
  expect(await processesWith(own)).toBe(0)
})

test.concurrent('children, grandchildren, process groups and orphaned processes of the command end with it', async ({
  expect,
  onTestFinished,
}) => {
  const { id, own } = await begun(
    onTestFinished,
    `
    loop='while :; do sleep 0.05; done'
    sh -c "$loop" "$1" &
    sh -c 'sh -c "$1" "$0" & sh -c "$1" "$0"' "$1" "$loop" &
    # Orphans, whose parent has exited.
    sh -c 'sh -c "$1" "$0" & :' "$1" "$loop"
    # A group of its own, as an interactive shell makes them.
    bash -c 'set -m; sh -c "$1" "$0" & wait' "$1" "$loop" &
    : >"$1/ready"
    wait
    `,
  )
  await expect.poll(() => processesWith(own)).toBeGreaterThanOrEqual(7)

  expect((await cancel(id)).code).toBe(0)

  expect(await processesWith(own)).toBe(0)
  expect((await follow(id).ended).stderr).toMatch(/^ops-panel exit 143 \d+\n$/)
})

test.concurrent('a daemon with a session of its own keeps running', async ({ expect, onTestFinished }) => {
  const { id, own } = await begun(
    onTestFinished,
    `setsid sh -c 'echo "$$" >"$0/daemon"; while :; do sleep 0.05; done' "$1" >/dev/null 2>&1 &
     until [ -s "$1/daemon" ]; do sleep 0.01; done
     ${FOR_EVER}`,
  )
  const daemon = Number(await readFile(join(own, 'daemon'), 'utf8'))
  onTestFinished(async () => kill(-daemon, 'SIGKILL'))

  await cancel(id)

  expect((await follow(id).ended).stderr).toMatch(/^ops-panel exit 143 \d+\n$/)
  expect(await running(daemon)).toBe(true)
})

test.concurrent('repeated cancelling, one after the other or at the same time, changes nothing', async ({
  expect,
  onTestFinished,
}) => {
  const { id, folder } = await begun(onTestFinished, `trap 'echo asked >>"$1/asked"; exit 7' TERM; ${FOR_EVER}`)

  const codes = await Promise.all([cancel(id), cancel(id), cancel(id)])
  const written = await readFile(join(folder, 'exit'), 'utf8')
  codes.push(await cancel(id))

  expect(codes.map(({ code }) => code)).toEqual([0, 0, 0, 0])
  expect(written).toMatch(/^7 \d+\n/)
  expect(await readFile(join(folder, 'exit'), 'utf8')).toBe(written)
})

test.concurrent('cancelling an ended job touches nothing', async ({ expect, onTestFinished }) => {
  const { id, folder } = newJob(onTestFinished)
  await startJob(id, ...script('echo out; exit 3', 'x'))
  await follow(id).ended

  expect(await cancel(id)).toMatchObject({ code: 0, stderr: '' })

  expect(await readFile(join(folder, 'exit'), 'utf8')).toMatch(/^3 4\n/)
  expect(await readFile(join(folder, 'output'), 'utf8')).toBe('out\n')
})

test.concurrent('cancelling a missing job is no failure', async ({ expect, onTestFinished }) => {
  const { id, folder } = newJob(onTestFinished)

  expect(await cancel(id)).toMatchObject({ code: 0, stderr: '' })

  expect(
    await access(folder).then(
      () => 'there',
      () => 'not there',
    ),
  ).toBe('not there')
})

/** Starts an unrelated process that leads a session, as a runner does. */
async function bystander(onTestFinished: OnTestFinished) {
  const child: ChildProcess = spawn('setsid', ['-w', 'sleep', '60'], { detached: true })
  onTestFinished(async () => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  return child.pid ?? 0
}

test.concurrent.for([
  { what: 'started at another time', change: (words: string[]) => [words[0], '1', words[2]] },
  {
    what: 'ran before a reboot',
    change: (words: string[]) => [words[0], words[1], '00000000-0000-0000-0000-000000000000'],
  },
])('a process with the runner’s pid that $what gets no signal', async ({ change }, { expect, onTestFinished }) => {
  // The number of processes of FOR_EVER changes between two of its pauses.
  const { id, folder, own } = await begun(onTestFinished, ': >"$1/ready"; sleep 600')
  const pid = await runner(folder)
  const words = (await readFile(join(folder, 'process'), 'utf8')).trim().split(' ')
  // A program that has just begun may still have a process that ends at once.
  let before = 0
  const isSteady = async () => {
    const last = before
    before = await processesWith(own)
    return before === last
  }
  await expect.poll(isSteady, { interval: 200 }).toBe(true)
  await writeFile(join(folder, 'process'), `${change(words).join(' ')}\n`)

  expect((await cancel(id)).code).toBe(0)

  expect(await running(pid)).toBe(true)
  expect(await processesWith(own)).toBe(before)
  await writeFile(join(folder, 'process'), `${words.join(' ')}\n`)
  await cancel(id)
  expect(await processesWith(own)).toBe(0)
})

test.concurrent('other jobs and processes of other sessions keep running', async ({ expect, onTestFinished }) => {
  const one = await begun(onTestFinished, FOR_EVER)
  const two = await begun(onTestFinished, FOR_EVER)
  const other = await bystander(onTestFinished)

  await cancel(one.id)

  expect(await processesWith(two.own)).toBeGreaterThan(0)
  expect(await running(other)).toBe(true)
  expect((await follow(one.id).ended).stderr).toMatch(/^ops-panel exit 143 \d+\n$/)
  await cancel(two.id)
})
