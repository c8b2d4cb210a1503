import type { JobRow } from '../db/jobs.ts'
import type { Failure } from '../runtime/errors.ts'
import { type Host, type HostStream, script, SshError } from '../ssh/ssh.ts'
import { jobFailure } from './codes.ts'
import { createTextReader, type TextPiece } from './output-text.ts'
import type { JobOutput } from './output.ts'
import { FOLLOW, OUTPUT_MARK } from './script.ts'

export interface JobOutcome {
  /** Exit code of the job's command. */
  code: number
  /** The lines that the command wrote to descriptor 9, apart from its output. */
  notes: readonly string[]
}

type Loss = 'host_rebooted' | 'job_killed' | 'job_folder_missing' | 'job_code_missing'

/** The host has no result of a job: its folder is gone, or its runner ended without an exit code. */
export class JobLost extends Error {
  override readonly name = 'JobLost'
  /** The failure that the job's record and its last event report. */
  readonly failure: Failure
  readonly notes: readonly string[]
  /** Whether processes of the job are left on the host. */
  readonly isAtWork: boolean

  constructor(code: Loss, notes: readonly string[] = [], isAtWork = false) {
    const failure = jobFailure(code)
    super(failure.message)
    this.failure = failure
    this.notes = notes
    this.isAtWork = isAtWork
  }
}

/**
 * Reads the output of a started job from the offset in its row to the end, and appends it to `output`; all of it is
 * stored when this resolves. Calls `attached` with each piece, or once the connection has lasted for `SETTLED_MS`, and
 * `received` as soon as the host answers and with each piece. Calls `noted` with each note in JSON, as the command
 * writes it, and again from the first one in each connection. Rejects with an SshError when the connection is lost,
 * with a JobLost when the job is, and with an AbortError when `signal` aborts. The job itself continues in all three
 * cases.
 */
export async function followOutput(
  {
    host,
    output,
    signal,
    attached,
    received,
    noted,
  }: {
    host: Host
    output: JobOutput
    signal: AbortSignal
    attached(): void
    received(): void
    noted(note: string): void
  },
  { id, folder, host_offset }: Pick<JobRow, 'id' | 'folder' | 'host_offset'>,
): Promise<JobOutcome> {
  const stream = await host.stream(script(FOLLOW, 'ops-panel-job', folder ?? id, String(host_offset)), {
    rights: 'script',
    stderr: jsonLines(noted),
  })
  stream.end.catch(() => {})
  const close = () => stream.close()
  let mark: NodeJS.Timeout | undefined
  signal.addEventListener('abort', close)
  // A failed write ends the stream at once. The next piece of output may take minutes.
  output.failed.addEventListener('abort', close)
  try {
    signal.throwIfAborted()
    const text = createTextReader(host_offset)
    let hostOffset = host_offset
    const write = ({ bytes, sourceEnd }: TextPiece) => output.append(bytes, sourceEnd)
    const take = (chunk: Buffer) => {
      hostOffset += chunk.length
      attached()
      received()
      return write(text.push(chunk))
    }
    mark = setTimeout(close, MARK_MS)
    const found = () => {
      clearTimeout(mark)
      received()
      // A connection that breaks again at once does not count as attached.
      mark = setTimeout(attached, SETTLED_MS)
    }
    await stream.read(afterMark(found, take))
    const end = await outcome(stream, hostOffset)
    await write(text.flush())
    if (end instanceof JobLost) throw end
    return end
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    clearTimeout(mark)
    signal.removeEventListener('abort', close)
    output.failed.removeEventListener('abort', close)
    close()
    await output.flush()
  }
}

/** Longest note in JSON, in characters. */
const LONGEST_NOTE = 256 * 1024

/** Returns a function that takes pieces of text and passes on each line of it that begins like an object in JSON. */
function jsonLines(take: (line: string) => void): (bytes: Buffer) => void {
  const decoder = new TextDecoder()
  let rest = ''
  return (bytes) => {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LONGEST_NOTE) rest = ''
    for (const line of lines) if (line.startsWith('{')) take(line)
  }
}

const MARK = Buffer.from(`${OUTPUT_MARK}\n`)
/** Start-up files that take longer than this are taken to hang. */
const MARK_MS = 30_000
/** A connection that has lasted this long counts as attached even if the job prints nothing. */
const SETTLED_MS = 5_000
/** Longer than any text that start-up files print. */
const MAX_GREETING = 64 * 1024

type Take = Parameters<HostStream['read']>[0]

/** Passes on the bytes after the mark. The bytes before it come from the account's start-up files. */
function afterMark(found: () => void, take: Take): Take {
  let head: Buffer | undefined = Buffer.alloc(0)
  return (chunk) => {
    if (!head) return take(chunk)
    head = Buffer.concat([head, chunk])
    const at = head.indexOf(MARK)
    if (at >= 0) {
      const rest = head.subarray(at + MARK.length)
      head = undefined
      found()
      return rest.length > 0 ? take(rest) : undefined
    }
    if (head.length > MAX_GREETING)
      throw new SshError('lost', 'les fichiers de démarrage du compte de service affichent trop de texte')
    return undefined
  }
}

const END = /^ops-panel (?:(exit) (\d+) (\d+)|lost (\d+) (killed|rebooted|working)|(gone|foreign|exit).*)$/
const NOTE = 'ops-panel note '

/** Parses the line that `FOLLOW` ends with, and ignores all other text on stderr. */
async function outcome(stream: HostStream, hostOffset: number): Promise<JobOutcome | JobLost> {
  const { stderr } = await stream.end
  // Only a line feed ends a line: the notes may have other line separators of Unicode.
  const lines = stderr.split('\n')
  const words = lines.map((line) => END.exec(line)).find((found) => found !== null)
  if (!words) throw new SshError('lost', stderr.trim().split('\n').at(-1) || 'la connexion a été perdue')
  const [, , code, size, sizeWhenLost, loss, word] = words
  const notes = lines.filter((line) => line.startsWith(NOTE)).map((line) => line.slice(NOTE.length))
  if (word === 'gone') return new JobLost('job_folder_missing')
  if (word === 'foreign')
    throw new SshError('lost', 'la tâche appartient à un autre compte de l’hôte que celui des réglages')
  // A full disk may leave the file empty.
  if (word === 'exit') return new JobLost('job_code_missing', notes)
  if (hostOffset < Number(size ?? sizeWhenLost)) throw new SshError('lost', 'la connexion a été perdue')
  if (loss) return new JobLost(loss === 'rebooted' ? 'host_rebooted' : 'job_killed', notes, loss === 'working')
  return { code: Number(code), notes }
}
