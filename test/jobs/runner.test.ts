import { isUtf8 } from 'node:buffer'
import { access, open, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'vitest'
import { type Command, script } from '../../ssh/command.ts'
import { RUN } from '../../jobs/runner.ts'
import { START } from '../../jobs/script.ts'
import { type OnTestFinished, temporaryFolder } from '../db/folder.ts'
import { follow, kill, MOST, newJob, run, startJob } from '../ssh/host-shell.ts'

const most = Number(MOST)
const NOTE = /\n\[… (\d+) octets omis : la sortie dépasse 1 Mio …\]\n/

/** The whole output of a job with that command, after its end. */
async function printed(onTestFinished: OnTestFinished, ...command: Command) {
  const { id, folder } = newJob(onTestFinished)
  await startJob(id, ...command)
  const { stdout, stderr } = await follow(id).ended
  return { id, folder, stdout, stderr }
}

/** A file of `size` bytes with numbered lines. */
async function numbered(onTestFinished: OnTestFinished, size: number) {
  const file = join(await temporaryFolder(onTestFinished), 'data')
  const lines = Array.from({ length: size / 16 }, (_, at) => `line ${String(at).padStart(10, '0')}\n`)
  await writeFile(file, lines.join(''))
  return { file, bytes: await readFile(file) }
}

test.concurrent('an output as long as the limit is kept completely', async ({ expect, onTestFinished }) => {
  const { file, bytes } = await numbered(onTestFinished, most)

  const { stdout, stderr, folder } = await printed(onTestFinished, 'cat', file)

  expect(stdout.equals(bytes)).toBe(true)
  expect(stderr).toBe(`ops-panel exit 0 ${most}\n`)
  await expect(access(join(folder, 'tail'))).rejects.toThrow('ENOENT')
})

test.concurrent.for([
  { what: 'a line more', size: most + 16 },
  { what: 'many times that', size: 9 * most },
])(
  'of $what the first and the last lines are kept, with a line between them that counts the missing bytes',
  async ({ size }, { expect, onTestFinished }) => {
    const { file, bytes } = await numbered(onTestFinished, size)

    const { id, stdout, stderr } = await printed(onTestFinished, 'cat', file)

    expect(stderr).toBe(`ops-panel exit 0 ${stdout.length}\n`)
    const text = stdout.toString()
    const [note = '', missing] = NOTE.exec(text) ?? []
    const [head = '', tail = ''] = text.split(note)
    expect(bytes.subarray(0, head.length + 1).equals(Buffer.from(`${head}\n`))).toBe(true)
    expect(bytes.subarray(-tail.length).equals(Buffer.from(tail))).toBe(true)
    expect(head.length + 1 + Number(missing) + tail.length).toBe(size)
    for (const half of [head, tail]) {
      expect(half.length).toBeGreaterThan(most / 2 - 64)
      expect(half.length).toBeLessThanOrEqual(most / 2)
    }
    // A follower that starts later or resumes at a byte gets the same.
    const at = head.length - 10
    expect((await follow(id, at).ended).stdout.equals(stdout.subarray(at))).toBe(true)
  },
)

test.concurrent('an output without lines is cut between characters', async ({ expect, onTestFinished }) => {
  const file = join(await temporaryFolder(onTestFinished), 'data')
  await writeFile(file, `x${'€'.repeat(most)}`)

  const { stdout } = await printed(onTestFinished, 'cat', file)

  expect(isUtf8(stdout)).toBe(true)
  expect(stdout.toString()).toMatch(/^x€+\n\[… \d+ octets omis : la sortie dépasse 1 Mio …\]\n€+$/)
})

test.concurrent('a command that prints without end fills no disk, and a follower gets its end', async ({
  expect,
  onTestFinished,
}) => {
  const { id, folder } = newJob(onTestFinished)
  const own = await temporaryFolder(onTestFinished)
  await startJob(
    id,
    ...script('yes | head -c 20000000; : >"$1/all"; until [ -e "$1/go" ]; do sleep 0.01; done; echo end', 'x', own),
  )
  const { ended, seen } = follow(id)
  await expect
    .poll(() =>
      access(join(own, 'all')).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
  await expect.poll(() => seen().length).toBe(most / 2)

  const sizes = await Promise.all(['output', 'tail'].map(async (file) => (await stat(join(folder, file))).size))
  expect(sizes).toEqual([most / 2, most / 2])
  await writeFile(join(own, 'go'), '')

  const { stdout } = await ended
  expect(stdout.length).toBeLessThan(most + 100)
  expect(stdout.toString()).toMatch(NOTE)
  expect(stdout.toString().endsWith('\ny\nend\n')).toBe(true)
})

test.concurrent('a full disk costs the command only its output', async ({ expect, onTestFinished }) => {
  const { id } = newJob(onTestFinished)
  const ran = join(await temporaryFolder(onTestFinished), 'ran')
  const command = script('head -c 400000 /dev/zero; mkdir "$1"', 'x', ran)

  // A file may have 100,000 bytes or so.
  await run(script('ulimit -f 200; exec "$@"', 'x', ...script(START, 'ops-panel-job', RUN, id, MOST, '-', ...command)))
  const { stdout, stderr } = await follow(id).ended

  expect(stderr).toBe(`ops-panel exit 0 ${stdout.length}\n`)
  expect(stdout.length).toBeGreaterThan(50_000)
  expect(stdout.length).toBeLessThan(400_000)
  await access(ran)
})

test.concurrent('the command cannot open its output as a file: what it has printed stays', async ({
  expect,
  onTestFinished,
}) => {
  const { stdout } = await printed(
    onTestFinished,
    ...script('echo first; : >/proc/self/fd/1; : >/proc/self/fd/2; echo forged >/dev/stdout; echo last', 'x'),
  )

  expect(stdout.toString()).toBe('first\nforged\nlast\n')
})

test.concurrent('the command inherits pipes, and nothing that was open before', async ({ expect, onTestFinished }) => {
  const { id } = newJob(onTestFinished)
  const own = join(await temporaryFolder(onTestFinished), 'secret')
  await writeFile(own, '')
  const list = script('find "/proc/$$/fd" -type l -printf "%f %l\\n"; :', 'x')

  await run(
    script(
      'exec 3<"$1" 7<"$1"; shift; exec "$@"',
      'x',
      own,
      ...script(START, 'ops-panel-job', RUN, id, MOST, '-', ...list),
    ),
  )

  const lines = (await follow(id).ended).stdout.toString().replaceAll(/\d+\]/g, ']').trimEnd().split('\n')
  expect(lines).toEqual(['0 pipe:[]', '1 pipe:[]', '2 pipe:[]'])
})

test.concurrent('the command does not inherit a folder for temporary files from the account’s start-up files', async ({
  expect,
  onTestFinished,
}) => {
  const { id } = newJob(onTestFinished)
  const start = script(START, 'ops-panel-job', RUN, id, MOST, '-', ...script('env; rm "$(mktemp)" && echo made', 'x'))

  await run(['env', 'TMPDIR=/nowhere', 'TMP=/nowhere', 'PERL5OPT=-Mnowhere', 'PERL_UNICODE=SD', 'KEPT=yes', ...start])

  const text = (await follow(id).ended).stdout.toString()
  expect(text).toMatch(/^KEPT=yes$/m)
  expect(text).toMatch(/^made$/m)
  expect(text).not.toContain('nowhere')
})

test.concurrent('a daemon that keeps the pipe open delays nothing, and its later output does not end it', async ({
  expect,
  onTestFinished,
}) => {
  const own = await temporaryFolder(onTestFinished)
  const daemon = 'echo "$$" >"$1/pid"; until [ -e "$1/go" ]; do sleep 0.01; done; echo late; echo alive >"$1/alive"'

  const { stdout, stderr } = await printed(
    onTestFinished,
    ...script('setsid sh -c "$2" x "$1" & until [ -s "$1/pid" ]; do sleep 0.01; done; echo begun', 'x', own, daemon),
  )
  onTestFinished(async () => kill(-Number(await readFile(join(own, 'pid'), 'utf8')), 'SIGKILL'))

  expect(stdout.toString()).toBe('begun\n')
  expect(stderr).toBe('ops-panel exit 0 6\n')
  await writeFile(join(own, 'go'), '')
  await expect.poll(() => readFile(join(own, 'alive'), 'utf8').catch(() => '')).toBe('alive\n')
})

test.concurrent('a command that closes its output still runs to its end', async ({ expect, onTestFinished }) => {
  const own = await temporaryFolder(onTestFinished)

  const { stderr } = await printed(
    onTestFinished,
    ...script('exec >&- 2>&-; sleep 0.1; echo done >"$1/done"; exit 4', 'x', own),
  )

  expect(stderr).toBe('ops-panel exit 4 0\n')
  await (await open(join(own, 'done'))).close()
})
