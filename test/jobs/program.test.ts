import { chown, mkdtemp, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { JOBS_FOLDER } from '../../jobs/folder-script.ts'
import { startCommands } from '../../jobs/host-job.ts'
import { RUN } from '../../jobs/runner.ts'
import { CLEAN, FOLLOW, withNotes } from '../../jobs/script.ts'
import { type Command, script } from '../../ssh/command.ts'
import type { OnTestFinished } from '../db/folder.ts'
import { temporaryFolder } from '../db/folder.ts'
import { begin, follow, killSession, MOST, newJob, processesWith, run, runner, startJob } from '../ssh/host-shell.ts'

/** Perl that prints its arguments and its own length; with so many characters in a comment. */
const programOf = (length: number, text = 'é') =>
  `# ${text.repeat(length)}\n` +
  `print join("|", @ARGV), " ", -s __FILE__, "\\n"; open my $notes, ">>&=", 9; print $notes "noted\\n";\n`

/** A job with a program, and the commands that start it: the last one is the start itself. */
function jobWith(onTestFinished: OnTestFinished, program = programOf(30_000), ...args: string[]) {
  const { id, folder } = newJob(onTestFinished)
  onTestFinished(async () => {
    // The job of a failed test still runs, and nobody finds its leader without the folder.
    await killSession(folder)
    await run(script(CLEAN, 'ops-panel-job', id))
  })
  const prepared = { command: ['perl', ...(args.length > 0 ? args : ['a b', "it's"])] as Command, program }
  const commands = startCommands({ name: id, mostOutput: Number(MOST) }, prepared)
  const [start, ...puts] = commands.toReversed()
  if (!start) throw new Error('no start')
  const own = dirname(folder)
  return {
    id,
    folder,
    own,
    program,
    puts: puts.toReversed(),
    start,
    /** Runs commands, one after the other; returns their exit codes. */
    async send(...sent: Command[]) {
      const codes: (number | null)[] = []
      for (const command of sent) codes.push((await run(command)).code)
      return codes
    },
    pieces: async (of = own) => (await readdir(of)).filter((name) => name.startsWith(`${id}.`)).sort(),
  }
}

const NOT_WHOLE = { code: 75, stderr: expect.stringContaining('not whole') }

test.concurrent('a program in pieces runs as it is, as the first argument of its command, and is in no list of processes', async ({
  expect,
  onTestFinished,
}) => {
  const go = join(await temporaryFolder(onTestFinished), 'go')
  const text = `${programOf(30_000, 'secret-é')}select undef, undef, undef, 0.01 until -e $ARGV[2];\n`
  const { id, folder, puts, start, send, pieces } = jobWith(onTestFinished, text, 'a b', "it's", go)
  expect(puts.length).toBeGreaterThan(10)
  for (const piece of puts) expect(Buffer.byteLength(piece.at(-1) ?? '')).toBeLessThanOrEqual(24_000)

  expect(await send(...puts)).toEqual(puts.map(() => 0))
  expect(await pieces()).toHaveLength(puts.length)
  for (const name of await pieces()) expect((await stat(join(dirname(folder), name))).mode & 0o777).toBe(0o600)
  expect(await send(start)).toEqual([0])

  expect(await pieces()).toEqual([])
  expect(await readFile(join(folder, 'program'), 'utf8')).toBe(text)
  expect((await stat(join(folder, 'program'))).mode & 0o777).toBe(0o600)
  expect(await processesWith('secret-')).toBe(0)
  // The answer comes before the shell has become the program.
  await expect.poll(() => processesWith(join(folder, 'program'))).toBe(1)
  await writeFile(go, '')
  const { stdout, stderr } = await follow(id).ended
  expect(stdout.toString()).toBe(`a b|it's|${go} ${Buffer.byteLength(text)}\n`)
  expect(stderr).toMatch(/ops-panel exit 0 \d+\nops-panel note noted\n$/)
})

test.concurrent('pieces that are written again, in another order and at once give the same program, which runs once', async ({
  expect,
  onTestFinished,
}) => {
  const runs = join(await temporaryFolder(onTestFinished), 'runs')
  const text = `${programOf(30_000)}open my $file, ">>", $ARGV[0]; print $file "run\\n";\n`
  const { id, folder, puts, start, send, pieces } = jobWith(onTestFinished, text, runs)

  await send(...puts.toReversed(), ...puts)
  await Promise.all([...puts, ...puts].map((put) => run(put)))
  const codes = await Promise.all(Array.from({ length: 4 }, () => send(...puts, start)))
  await follow(id).ended
  codes.push(await send(...puts, start))

  expect(codes.flat().every((code) => code === 0)).toBe(true)
  expect(await readFile(runs, 'utf8')).toBe('run\n')
  expect(await readFile(join(folder, 'program'), 'utf8')).toBe(text)
  await send(script(CLEAN, 'ops-panel-job', id))
  expect(await pieces()).toEqual([])
})

test.concurrent('a job whose program was interrupted between two pieces does not start, and leaves none', async ({
  expect,
  onTestFinished,
}) => {
  const { folder, puts, start, send, pieces } = jobWith(onTestFinished)
  await send(...puts.slice(0, -1))

  expect(await run(start)).toMatchObject(NOT_WHOLE)

  expect(await pieces()).toEqual([])
  expect(await readdir(folder)).not.toContain('process')
})

test.concurrent('a piece that has changed is not run', async ({ expect, onTestFinished }) => {
  const { own, folder, puts, start, send, pieces } = jobWith(onTestFinished)
  await send(...puts)
  const [first = ''] = await pieces()
  await writeFile(join(own, first), 'print "other"; # ')

  expect(await run(start)).toMatchObject(NOT_WHOLE)

  expect(await readdir(folder)).not.toContain('process')
})

test.concurrent('pieces of another version of the program do not mix, and go with those of the job', async ({
  expect,
  onTestFinished,
}) => {
  const { id, program, puts, start, send, pieces } = jobWith(onTestFinished)
  const others = startCommands(
    { name: id, mostOutput: 1 },
    { command: ['perl'], program: program.replace('é', 'ü').repeat(2) },
  )

  await send(...others.slice(0, 2), ...puts, ...others.slice(2, -1))
  expect(await send(start)).toEqual([0])

  expect((await follow(id).ended).stdout.toString()).toBe(`a b|it's ${Buffer.byteLength(program)}\n`)
  expect(await pieces()).toEqual([])
})

test.concurrent('pieces in two folders of the account are found', async ({ expect, onTestFinished }) => {
  const { id, puts, start, send } = jobWith(onTestFinished)
  const base = await temporaryFolder(onTestFinished)
  // A second folder in /var/tmp itself would be one for the jobs of other tests too.
  const within = ([program, ...words]: Command): Command => [
    program,
    ...words.map((word) => word.replaceAll('/var/tmp', base)),
  ]
  const folders = [await mkdtemp(join(base, 'ops-panel-jobs-')), await mkdtemp(join(base, 'ops-panel-jobs-'))]
  await send(...puts.map(within))
  const names = async () => (await Promise.all(folders.map((folder) => readdir(folder)))).map((all) => all.sort())
  const [one = [], two = []] = await names()
  expect([one.length, two.length].sort()).toEqual([0, puts.length])
  const [from = '', to = ''] = one.length > 0 ? folders : folders.toReversed()
  const [first = ''] = [...one, ...two]
  await rename(join(from, first), join(to, first))

  expect(await send(within(start))).toEqual([0])

  const { stderr } = await begin(within(script(FOLLOW, 'ops-panel-job', id, '0'))).ended
  expect(stderr).toMatch(/ops-panel exit 0 /)
  expect((await names()).flat()).toEqual([id])
})

const asRoot = process.getuid?.() === 0

test.concurrent('what others put where a piece could be is neither read nor changed', async ({
  expect,
  onTestFinished,
}) => {
  const { id, folder, own, puts, start, send, pieces } = jobWith(onTestFinished)
  await send(...puts)
  const names = await pieces()
  const texts = await Promise.all(names.map((name) => readFile(join(own, name))))
  await send(script(CLEAN, 'ops-panel-job', id))
  const other = await temporaryFolder(onTestFinished)
  const link = `${JOBS_FOLDER}${id}-link`
  await symlink(other, link)
  const places = [other]
  onTestFinished(() => rm(link))
  if (asRoot) {
    const made = await mkdtemp('/var/tmp/ops-panel-test-')
    const foreign = `${JOBS_FOLDER}${id}-foreign`
    await chown(made, 65_534, 65_534)
    await rename(made, foreign)
    onTestFinished(() => rm(foreign, { recursive: true, force: true }))
    places.push(foreign)
  }
  for (const place of places)
    for (const [n, name] of names.entries()) await writeFile(join(place, name), texts[n] ?? '')

  expect(await run(start)).toMatchObject(NOT_WHOLE)
  expect(await readdir(folder)).not.toContain('process')
  await send(script(CLEAN, 'ops-panel-job', id), ...puts)
  expect(await pieces()).toEqual(names)
  expect(await send(start)).toEqual([0])
  expect((await follow(id).ended).stderr).toMatch(/ops-panel exit 0 /)
  await send(script(CLEAN, 'ops-panel-job', id))

  for (const place of places) expect(await pieces(place)).toEqual(names)
})

/** The same command on a full disk, which the limit of 0 bytes a file imitates. The signal that comes with it is ignored. */
const onFullDisk = (command: Command) => script('trap "" XFSZ; ulimit -f 0; exec "$@"', 'x', ...command)

test.concurrent('on a full disk no piece is written, and those before go', async ({ expect, onTestFinished }) => {
  const { puts, send, pieces } = jobWith(onTestFinished)
  await send(...puts.slice(0, 1))

  const { code, stderr } = await run(onFullDisk(puts[1] ?? ['false']))

  expect({ code, stderr }).toMatchObject({ code: 75, stderr: expect.stringContaining('is the disk full?') })
  expect(await pieces()).toEqual([])
})

test.concurrent('on a disk that is full when the job starts, its program does not run', async ({
  expect,
  onTestFinished,
}) => {
  const { folder, puts, start, send, pieces } = jobWith(onTestFinished)
  await send(...puts)

  expect(await run(onFullDisk(start))).toMatchObject(NOT_WHOLE)

  expect(await pieces()).toEqual([])
  expect(await readdir(folder)).not.toContain('process')
})

test.concurrent('a start that is refused leaves no piece', async ({ expect, onTestFinished }) => {
  const { puts, start, send, pieces } = jobWith(onTestFinished)
  const programs = await temporaryFolder(onTestFinished)
  for (const name of ['find', 'id', 'rm']) await symlink(`/usr/bin/${name}`, join(programs, name))
  await send(...puts)

  const [, ...words] = start
  const { code, stderr } = await run(['env', `PATH=${programs}`, '/bin/sh', ...words])

  expect({ code, stderr }).toEqual({ code: 69, stderr: 'perl manque sur l’hôte\n' })
  expect(await pieces()).toEqual([])
})

test.concurrent('pieces of a job that never started go with the first start a week later', async ({
  expect,
  onTestFinished,
}) => {
  const { own, puts, send, pieces } = jobWith(onTestFinished)
  const { id: later } = newJob(onTestFinished)
  await send(...puts)
  const [first = '', ...others] = await pieces()
  const old = new Date(Date.now() - 8 * 24 * 60 * 60_000 - 60_000)
  await utimes(join(own, first), old, old)

  await startJob(later, 'true')

  expect(await pieces()).toEqual(others)
})

test.concurrent('a job that the former version has started is followed, and no later start or piece touches it', async ({
  expect,
  onTestFinished,
}) => {
  const { id, folder, puts, start, send, pieces } = jobWith(onTestFinished)
  const go = join(await temporaryFolder(onTestFinished), 'go')
  const text = 'echo begun; echo noted >&9; until [ -e "$1" ]; do sleep 0.01; done; echo ended'
  const former =
    'umask 077; mkdir "$2"; : >"$2/output"; : >"$2/notes"; setsid perl -e "$@" </dev/null >/dev/null 2>&1 &'
  const job = withNotes(id, ['perl', '-e', 'exec @ARGV', 'sh', '-c', text, 'x', go])
  await run(script(former, 'x', RUN, folder, MOST, ...job))
  const { seen, ended } = follow(id)
  await expect.poll(seen).toBe('begun\n')
  const pid = await runner(folder)

  expect(await send(...puts, start)).toEqual([...puts, start].map(() => 0))

  expect([await pieces(), await runner(folder)]).toEqual([[], pid])
  expect(await readdir(folder)).not.toContain('program')
  await writeFile(go, '')
  const { stdout, stderr } = await ended
  expect(stdout.toString()).toBe('begun\nended\n')
  expect(stderr).toBe('noted\nops-panel exit 0 12\nops-panel note noted\n')
})

test.concurrent('a piece that arrives while its job runs is not written', async ({ expect, onTestFinished }) => {
  const { id, puts, start, send, pieces } = jobWith(onTestFinished, 'sleep 60;\n')
  await send(...puts, start)

  expect(await send(...puts)).toEqual([0])

  expect(await pieces()).toEqual([])
  expect(await processesWith(id)).toBeGreaterThan(0)
})
