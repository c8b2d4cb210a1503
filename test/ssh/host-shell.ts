import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import type { Command } from '../../ssh/command.ts'
import { script } from '../../ssh/command.ts'
import { RUN } from '../../jobs/runner.ts'
import { JOBS_FOLDER } from '../../jobs/folder-script.ts'
import { FOLLOW, OUTPUT_MARK, START } from '../../jobs/script.ts'
import type { OnTestFinished } from '../db/folder.ts'

/** Takes the folder of this account's jobs, created once although test files run in parallel, and notes who uses it. */
const TAKE_FOLDER = `
folder=$(find /var/tmp -maxdepth 1 -type d -name 'ops-panel-jobs-*' -uid "$(id -u)" | tail -n 1)
[ -n "$folder" ] || folder=$(mktemp -d ${JOBS_FOLDER}XXXXXXXXXXXX) || exit
: >"$folder/used-by-$1" && printf %s "$folder"`
/** Removes the note, and the folder with the last one. */
const LEAVE_FOLDER = `rm -f "$2/used-by-$1"; rmdir "$2" 2>/dev/null || :`

function withFolders(text: string, ...words: string[]): string {
  return execFileSync('flock', ['/var/tmp', 'sh', '-c', text, 'folders', ...words], { encoding: 'utf8' })
}

/** A job id of the running test; its folder, and all processes of its session, are removed when the test ends. */
export function newJob(onTestFinished: OnTestFinished): { id: string; folder: string } {
  const id = `test-${randomUUID()}`
  const own = withFolders(TAKE_FOLDER, id)
  const folder = `${own}/${id}`
  onTestFinished(async () => {
    await killSession(folder)
    await rm(folder, { recursive: true, force: true })
    withFolders(LEAVE_FOLDER, id, own)
  })
  return { id, folder }
}

/** Kills all processes of a job's session, if it has begun. */
export async function killSession(folder: string): Promise<void> {
  const pid = await runner(folder).catch(() => undefined)
  if (pid !== undefined) kill(-pid, 'SIGKILL')
}

/** Returns the pid of the leader of the job's session. */
export async function runner(folder: string): Promise<number> {
  const [pid] = (await readFile(`${folder}/process`, 'utf8')).split(' ')
  const number = Number(pid)
  if (!(number > 1)) throw new Error(`no runner in ${folder}`)
  return number
}

/** Signals a process, or a group by its negative number; an ended one is ignored. */
export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** Runs a command here with real programs; its stdin stays open until it is ended. */
export function begin([program, ...args]: Command): Running {
  const child = spawn(program, args)
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  child.stdin.on('error', () => {})
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => {
      resolve({ code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() })
    })
  })
  return { child, ended, seen: () => Buffer.concat(stdout).toString() }
}

export interface Ended {
  code: number | null
  stdout: Buffer
  stderr: string
}

export interface Running {
  child: ChildProcessWithoutNullStreams
  ended: Promise<Ended>
  /** The stdout so far. */
  seen(): string
}

/** Runs a command to its end, without stdin. */
export function run(command: Command): Promise<Ended> {
  const { child, ended } = begin(command)
  child.stdin.end()
  return ended
}

/** The output limit of a job, in bytes. */
export const MOST = String(1024 * 1024)

export function startJob(id: string, ...command: Command): Promise<Ended> {
  return run(script(START, 'ops-panel-job', RUN, id, MOST, '-', ...command))
}

/** Follows a job; its stdout is returned from the mark on, which must come first in any output. */
export function follow(id: string, offset = 0): Running {
  const { child, ended, seen } = begin(script(FOLLOW, 'ops-panel-job', id, String(offset)))
  return {
    child,
    ended: ended.then((end) => ({ ...end, stdout: afterMark(end.stdout) })),
    seen: () => afterMark(Buffer.from(seen())).toString(),
  }
}

function afterMark(bytes: Buffer): Buffer {
  const mark = Buffer.from(`${OUTPUT_MARK}\n`)
  if (bytes.length < mark.length) return Buffer.alloc(0)
  if (!bytes.subarray(0, mark.length).equals(mark)) throw new Error(`no mark before ${bytes.subarray(0, 80)}`)
  return bytes.subarray(mark.length)
}

/** Returns the number of processes with a word in their command line. */
export async function processesWith(word: string): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => line.includes(word)).length
}
