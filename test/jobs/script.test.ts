import { access, chown, mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'vitest'
import { script } from '../../ssh/command.ts'
import { RUN } from '../../jobs/runner.ts'
import { JOBS_FOLDER } from '../../jobs/folder-script.ts'
import { CLEAN, START, withNotes } from '../../jobs/script.ts'
import { temporaryFolder } from '../db/folder.ts'
import { begin, follow, kill, MOST, newJob, processesWith, run, runner, startJob } from '../ssh/host-shell.ts'

/** A command that prints, waits until a file exists, and prints again. */
const waitFor = (file: string, before = '', after = '') =>
  script('printf %s "$2"; until [ -e "$1" ]; do sleep 0.01; done; printf %s "$3"', 'waits', file, before, after)

const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  )

test.concurrent('stdout, stderr and the exit code of a job are kept in a folder of the account', async ({
  expect,
  onTestFinished,
}) => {
  const { id, folder } = newJob(onTestFinished)

  expect(await startJob(id, ...script('echo out; echo err >&2; exit 3', 'x'))).toMatchObject({ code: 0, stderr: '' })
  const { stdout, stderr, code } = await follow(id).ended

  expect(code).toBe(0)
  expect(stdout.toString()).toBe('out\nerr\n')
  expect(stderr).toBe('ops-panel exit 3 8\n')
  expect((await stat(folder)).mode & 0o777).toBe(0o700)
  expect((await stat(join(folder, 'output'))).mode & 0o777).toBe(0o600)
  expect((await readFile(join(folder, 'exit'), 'utf8')).split('\n')[0]).toBe('3 8')
})

test.concurrent('every byte of the output arrives unchanged', async ({ expect, onTestFinished }) => {
  const { id } = newJob(onTestFinished)
  const data = join(await temporaryFolder(onTestFinished), 'data')
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7 + (at >> 8)) % 256))
  await writeFile(data, bytes)

  await startJob(id, 'cat', data)
  const { stdout, stderr } = await follow(id).ended

  expect(stdout.equals(bytes)).toBe(true)
  expect(stderr).toBe('ops-panel exit 0 300000\n')
})

test.concurrent('arguments reach the command unchanged, and nothing in them runs', async ({
  expect,
  onTestFinished,
}) => {
  const { id } = newJob(onTestFinished)
  const args = ['$(echo pwned)', "it's", 'a\nb', '', '-n', '*', '; exit 9', '"', '\\']

  await startJob(id, 'printf', '<%s>', ...args)

  expect((await follow(id).ended).stdout.toString()).toBe(args.map((arg) => `<${arg}>`).join(''))
})

test.concurrent('a missing command ends with 127', async ({ expect, onTestFinished }) => {
  const { id } = newJob(onTestFinished)

  await startJob(id, 'ops-panel-no-such-program')

  expect((await follow(id).ended).stderr).toMatch(/^ops-panel exit 127 \d+\n$/)
})

test.concurrent('START returns while the job runs in a session of its own, which a hang-up does not end', async ({
  expect,
  onTestFinished,
}) => {
  const { id, folder } = newJob(onTestFinished)
  const file = join(await temporaryFolder(onTestFinished), 'go')

  expect((await startJob(id, ...waitFor(file, 'begun, ', 'ended'))).code).toBe(0)
  const pid = await runner(folder)
  const [, , , , group, session] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(' ')
  expect([group, session]).toEqual([String(pid), String(pid)])
  kill(pid, 'SIGHUP')
  await writeFile(file, '')

  const { stdout, stderr } = await follow(id).ended
  expect(stdout.toString()).toBe('begun, ended')
  expect(stderr).toBe('ops-panel exit 0 12\n')
})

test.concurrent('repeated starts, one after the other or at the same time, start the job once', async ({
  expect,
  onTestFinished,
}) => {
  const { id } = newJob(onTestFinished)
  const folder = await temporaryFolder(onTestFinished)
  const command = script('echo run >>"$1/runs"; until [ -e "$1/go" ]; do sleep 0.01; done', 'x', folder)

  const codes = await Promise.all(Array.from({ length: 6 }, () => startJob(id, ...command)))
  await startJob(id, ...command)
  await writeFile(join(folder, 'go'), '')
  await follow(id).ended
  await startJob(id, ...command)

  expect(codes.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0])
  expect(await readFile(join(folder, 'runs'), 'utf8')).toBe('run\n')
})

test.concurrent('FOLLOW from a byte returns the rest of an ended and of a running job', async ({
  expect,
  onTestFinished,
}) => {
  const { id, folder } = newJob(onTestFinished)
  const file = join(await temporaryFolder(onTestFinished), 'go')
  await startJob(id, ...waitFor(file, '0123456789', 'abcdef'))
  // No follower is ahead of the file: for such an offset, tail would start with the next output.
  await expect.poll(() => readFile(join(folder, 'output'), 'utf8')).toBe('0123456789')

  const live = [0, 4, 10].map((offset) => follow(id, offset))
  await expect.poll(() => live[0]?.seen()).toBe('0123456789')
  await expect.poll(() => live[1]?.seen()).toBe('456789')
  await writeFile(file, '')

  const ended = await Promise.all(live.map((one) => one.ended))
  expect(ended.map(({ stdout }) => stdout.toString())).toEqual(['0123456789abcdef', '456789abcdef', 'abcdef'])
  for (const offset of [0, 1, 10, 15, 16]) {
    const { stdout, stderr } = await follow(id, offset).ended
    expect(stdout.toString()).toBe('0123456789abcdef'.slice(offset))
    expect(stderr).toBe('ops-panel exit 0 16\n')
  }
})

test.concurrent('a line arrives while the job runs', async ({ expect, onTestFinished }) => {
  const { id, folder } = newJob(onTestFinished)
  const file = join(await temporaryFolder(onTestFinished), 'go')
  await startJob(id, ...waitFor(file, 'first line\n'))

  const { seen, ended } = follow(id)

  await expect.poll(seen).toBe('first line\n')
  expect(await exists(join(folder, 'exit'))).toBe(false)
  await writeFile(file, '')
  await ended
})

test.concurrent('FOLLOW ends with its stdin and leaves no process behind; the job continues', async ({
  expect,
  onTestFinished,
}) => {
  const { id, folder } = newJob(onTestFinished)
  const file = join(await temporaryFolder(onTestFinished), 'go')
  await startJob(id, ...waitFor(file, 'begun, ', 'ended'))
  const { child, ended, seen } = follow(id)
  await expect.poll(seen).toBe('begun, ')

  child.stdin.end()

  expect((await ended).stdout.toString()).toBe('begun, ')
  // Only the runner is left of the processes whose command line contains the folder.
  await expect.poll(() => processesWith(folder)).toBe(1)
  await writeFile(file, '')
  expect((await follow(id).ended).stderr).toBe('ops-panel exit 0 12\n')
})

test.concurrent('FOLLOW to the end of a job leaves no process behind', async ({ expect, onTestFinished }) => {
  const { id, folder } = newJob(onTestFinished)
  const file = join(await temporaryFolder(onTestFinished), 'go')
  await startJob(id, ...waitFor(file))
  const { ended } = follow(id)
  await expect.poll(() => processesWith(folder)).toBeGreaterThan(1)

  await writeFile(file, '')
  await ended

  await expect.poll(() => processesWith(folder)).toBe(0)
})

test.concurrent('a job whose runner was killed is lost, for a current and for a later follower', async ({
  expect,
  onTestFinished,
}) => {
  const { id, folder } = newJob(onTestFinished)
  await startJob(id, ...waitFor('/nowhere', 'begun'))
  const { seen, ended } = follow(id)
  await expect.poll(seen).toBe('begun')

  kill(-(await runner(folder)), 'SIGKILL')

  expect(await ended).toMatchObject({ code: 0, stderr: 'ops-panel lost 5 killed\n' })
  const later = await follow(id, 2).ended
  expect(later.stderr).toBe('ops-panel lost 5 killed\n')
  expect(later.stdout.toString()).toBe('gun')
})

test.concurrent('what a killed runner has left at work is waited for', async ({ expect, onTestFinished }) => {
  const { id, folder } = newJob(onTestFinished)
  const folderOfFiles = await temporaryFolder(onTestFinished)
  const [go, done] = [join(folderOfFiles, 'go'), join(folderOfFiles, 'done')]
  const text = 'echo begun; until [ -e "$1" ]; do sleep 0.01; done; sleep 0.3; : >"$2"'
  await startJob(id, ...script(text, 'x', go, done))
  const { seen, ended } = follow(id)
  await expect.poll(seen).toBe('begun\n')

  kill(await runner(folder), 'SIGKILL')
  await writeFile(go, '')

  expect((await ended).stderr).toBe('ops-panel lost 6 killed\n')
  expect(await readFile(done, 'utf8')).toBe('')
  expect((await follow(id).ended).stderr).toBe('ops-panel lost 6 killed\n')
})

test.concurrent.for([
  {
    what: 'another boot',
    change: (words: string[]) => [words[0], words[1], '00000000-0000-0000-0000-000000000000'],
    loss: 'rebooted',
  },
  {
    what: 'another process with the same pid',
    change: (words: string[]) => [words[0], '1', words[2]],
    loss: 'killed',
  },
])('a runner of $what does not count as the job’s', async ({ change, loss }, { expect, onTestFinished }) => {
  const { id, folder } = newJob(onTestFinished)
  const file = join(await temporaryFolder(onTestFinished), 'go')
  await startJob(id, ...waitFor(file, 'begun'))
  const pid = await runner(folder)
  await expect.poll(() => readFile(join(folder, 'output'), 'utf8')).toBe('begun')
  const words = (await readFile(join(folder, 'process'), 'utf8')).trim().split(' ')
  await writeFile(join(folder, 'process'), `${change(words).join(' ')}\n`)

  expect((await follow(id).ended).stderr).toBe(`ops-panel lost 5 ${loss}\n`)

  kill(-pid, 'SIGKILL')
})

test.concurrent('notes of the command are returned apart from its output: while it runs, at its end and when it is lost', async ({
  expect,
  onTestFinished,
}) => {
  const { id, folder } = newJob(onTestFinished)
  const file = join(await temporaryFolder(onTestFinished), 'go')
  const text = 'echo 101 done 0 >&9; echo "ops-panel note 102 done 0"; until [ -e "$1" ]; do sleep 0.01; done; exit 3'
  await startJob(id, ...withNotes(id, ['sh', '-c', text, 'name', file]))
  const { seen, ended } = follow(id)
  await expect.poll(seen).toBe('ops-panel note 102 done 0\n')
  await writeFile(file, '')

  expect((await ended).stderr).toBe('101 done 0\nops-panel exit 3 26\nops-panel note 101 done 0\n')

  await rm(join(folder, 'exit'))
  expect((await follow(id).ended).stderr).toBe('ops-panel lost 26 killed\nops-panel note 101 done 0\n')
})

test.concurrent('TERM to the job’s group ends the command, and its exit code is still written', async ({
  expect,
  onTestFinished,
}) => {
  const { id, folder } = newJob(onTestFinished)
  await startJob(id, ...waitFor('/nowhere', 'begun'))
  const { seen, ended } = follow(id)
  await expect.poll(seen).toBe('begun')

  kill(-(await runner(folder)), 'SIGTERM')

  expect((await ended).stderr).toMatch(/^ops-panel exit 143 \d+\n$/)
})

test.concurrent('FOLLOW of a missing job reports gone', async ({ expect, onTestFinished }) => {
  const { id } = newJob(onTestFinished)

  expect(await follow(id).ended).toMatchObject({ code: 0, stderr: 'ops-panel gone\n' })
})

const asRoot = process.getuid?.() === 0

test.concurrent('a job starts despite what others put where a job’s folder could be, and their files stay unchanged', async ({
  expect,
  onTestFinished,
}) => {
  const { id, folder } = newJob(onTestFinished)
  const other = await temporaryFolder(onTestFinished)
  await mkdir(join(other, id))
  await writeFile(join(other, id, 'output'), 'forged\n')
  const places = [`${JOBS_FOLDER}${id}-link`, `${JOBS_FOLDER}${id}-file`, `${JOBS_FOLDER}${id}-foreign`]
  onTestFinished(async () => {
    for (const place of places) await rm(place, { recursive: true, force: true })
  })
  const [link = '', file = '', foreign = ''] = places
  await symlink(other, link)
  await writeFile(file, '')
  // Only root can make a folder of another account. Without root, the other cases have to do.
  if (asRoot) {
    const made = await mkdtemp('/var/tmp/ops-panel-test-')
    places.push(made)
    await mkdir(join(made, id))
    await chown(made, 65_534, 65_534)
    // With its owner at once: until then it would look like a folder of this account, which other jobs could use.
    await rename(made, foreign)
  }
  expect((await follow(id).ended).stderr).toMatch(/^ops-panel (gone|foreign)\n$/)

  expect(await startJob(id, 'echo', 'real')).toEqual({ code: 0, stdout: Buffer.alloc(0), stderr: '' })
  const { stdout, stderr } = await follow(id).ended
  await run(script(CLEAN, 'ops-panel-job', id))

  expect({ stdout: stdout.toString(), stderr }).toEqual({ stdout: 'real\n', stderr: 'ops-panel exit 0 5\n' })
  expect(await exists(folder)).toBe(false)
  expect(await readFile(join(other, id, 'output'), 'utf8')).toBe('forged\n')
  expect(await exists(link)).toBe(true)
})

test.concurrent('CLEAN removes the folders of several jobs, and no other', async ({ expect, onTestFinished }) => {
  const jobs = [newJob(onTestFinished), newJob(onTestFinished), newJob(onTestFinished)]
  for (const { id } of jobs) {
    await startJob(id, 'true')
    await follow(id).ended
  }
  const [first, second] = jobs.map(({ id }) => id)

  const { code } = await run(script(CLEAN, 'ops-panel-job', first ?? '', 'absent', second ?? ''))

  expect(code).toBe(0)
  expect(await Promise.all(jobs.map(({ folder }) => exists(folder)))).toEqual([false, false, true])
})

test.concurrent('a job that version 0.1 started in /var/tmp itself is followed and cleaned if it belongs to the account', async ({
  expect,
  onTestFinished,
}) => {
  const { id, folder } = newJob(onTestFinished)
  const former = `/var/tmp/ops-panel-job-${id}`
  onTestFinished(() => rm(former, { recursive: true, force: true }))
  await startJob(id, 'echo', 'former')
  await follow(id).ended
  await rename(folder, former)

  expect((await follow(id).ended).stdout.toString()).toBe('former\n')
  expect((await run(script(CLEAN, 'ops-panel-job', id))).code).toBe(0)
  expect(await exists(former)).toBe(false)
})

test.concurrent('CLEAN removes the folder of a job, and a second CLEAN does no harm', async ({
  expect,
  onTestFinished,
}) => {
  const { id, folder } = newJob(onTestFinished)
  await startJob(id, 'true')
  await follow(id).ended

  expect((await run(script(CLEAN, 'ops-panel-job', id))).code).toBe(0)
  expect(await exists(folder)).toBe(false)
  expect((await run(script(CLEAN, 'ops-panel-job', id))).code).toBe(0)
})

test.concurrent('the job does not read the stdin of START', async ({ expect, onTestFinished }) => {
  const { id } = newJob(onTestFinished)
  const { child, ended } = begin(script(START, 'ops-panel-job', RUN, id, MOST, '-', 'cat'))
  child.stdin.end('a password\n')

  expect((await ended).code).toBe(0)
  expect((await follow(id).ended).stderr).toBe('ops-panel exit 0 0\n')
})

test.concurrent('an exit code that could not be written is no success', async ({ expect, onTestFinished }) => {
  const { id, folder } = newJob(onTestFinished)
  await startJob(id, 'true')
  expect((await follow(id).ended).stderr).toBe('ops-panel exit 0 0\n')
  await writeFile(join(folder, 'exit'), '')

  expect((await follow(id).ended).stderr).toBe('ops-panel exit \n')
})

test.concurrent('on a full disk the command does not run, and START fails soon', async ({ expect, onTestFinished }) => {
  const { id, folder } = newJob(onTestFinished)
  const ran = join(await temporaryFolder(onTestFinished), 'ran')
  const start = script(START, 'ops-panel-job', RUN, id, MOST, '-', 'mkdir', ran)

  // The limit of 0 bytes a file imitates a full disk. The signal that comes with it is ignored.
  const { code, stderr } = await run(script('trap "" XFSZ; ulimit -f 0; exec "$@"', 'x', ...start))

  expect({ code, stderr }).toMatchObject({ code: 75, stderr: expect.stringContaining('did not start') })
  expect(await exists(ran)).toBe(false)
  expect(await exists(join(folder, 'exit'))).toBe(false)
})

test.concurrent('the command has the usual umask, and its folder stays private', async ({ expect, onTestFinished }) => {
  const { id, folder } = newJob(onTestFinished)

  await startJob(id, ...script('umask', 'x'))

  expect((await follow(id).ended).stdout.toString()).toBe('0022\n')
  expect((await stat(folder)).mode & 0o777).toBe(0o700)
})
