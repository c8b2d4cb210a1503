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
  /** What the command has noted apart from its output, in lines. */
  notes: readonly string[]
}

type Loss = 'host_rebooted' | 'job_killed' | 'job_folder_missing' | 'job_code_missing'

/** The host has no more to tell of a job, and why: its folder is gone, or its runner ended without an exit code. */
export class JobLost extends Error {
  override readonly name = 'JobLost'
  /** As it is told. */
  readonly failure: Failure
  readonly notes: readonly string[]

  constructor(code: Loss, notes: readonly string[] = []) {
    const failure = jobFailure(code)
    super(failure.message)
    this.failure = failure
    this.notes = notes
  }
}

/**
 * Reads a started job's output from where its row says to the end, and hands it to `output`; all of it is stored
 * when this resolves. `attached` is called when the host tells of it, or has been listening for a while; `heard` as soon as
 * the host answers, and with each piece. Rejects with an SshError when the
 * connection is lost, with a JobLost when the job is, with an AbortError when `signal` aborts; the job runs on at the
 * host then.
 */
export async function followOutput(
  {
    host,
    output,
    signal,
    attached,
    heard,
  }: { host: Host; output: JobOutput; signal: AbortSignal; attached(): void; heard(): void },
  { id, folder, host_offset }: Pick<JobRow, 'id' | 'folder' | 'host_offset'>,
): Promise<JobOutcome> {
  const stream = await host.stream(script(FOLLOW, 'ops-panel-job', folder ?? id, String(host_offset)), {
    rights: 'script',
  })
  stream.end.catch(() => {})
  const close = () => stream.close()
  let mark: NodeJS.Timeout | undefined
  signal.addEventListener('abort', close)
  // Not only when more comes, which may take minutes.
  output.failed.addEventListener('abort', close)
  try {
    signal.throwIfAborted()
    const text = createTextReader(host_offset)
    let received = host_offset
    const write = ({ bytes, sourceEnd }: TextPiece) => output.append(bytes, sourceEnd)
    const take = (chunk: Buffer) => {
      received += chunk.length
      attached()
      heard()
      return write(text.push(chunk))
    }
    mark = setTimeout(close, MARK_MS)
    const found = () => {
      clearTimeout(mark)
      heard()
      // One that is cut off again at once has not been reached.
      mark = setTimeout(attached, SETTLED_MS)
    }
    await stream.read(afterMark(found, take))
    const end = await outcome(stream, received)
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

const MARK = Buffer.from(`${OUTPUT_MARK}\n`)
/** Start-up files that take longer than this never come to an end. */
const MARK_MS = 30_000
/** A connection that has lasted for so long is one, also when the job prints nothing. */
const SETTLED_MS = 5_000
/** Longer than any start-up file's greeting. */
const MAX_GREETING = 64 * 1024

type Take = Parameters<HostStream['read']>[0]

/** Hands over what follows the mark; before it comes what the account's start-up files print, which is nobody's output. */
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

/** Reads the line that `FOLLOW` ends with; whatever else stands on stderr is the host's chatter. */
async function outcome(stream: HostStream, received: number): Promise<JobOutcome | JobLost> {
  const { stderr } = await stream.end
  const words = /^ops-panel (?:(exit) (\d+) (\d+)|lost (\d+) (killed|rebooted)|(gone|foreign|exit).*)$/m.exec(stderr)
  if (!words) throw new SshError('lost', stderr.trim().split('\n').at(-1) || 'la connexion a été perdue')
  const [, , code, size, sizeWhenLost, loss, word] = words
  const notes = [...stderr.matchAll(/^ops-panel note (.*)$/gm)].map(([, note = '']) => note)
  if (word === 'gone') return new JobLost('job_folder_missing')
  if (word === 'foreign')
    throw new SshError('lost', 'la tâche appartient à un autre compte de l’hôte que celui des réglages')
  // A disk that is full may leave the file without a word in it.
  if (word === 'exit') return new JobLost('job_code_missing', notes)
  if (received < Number(size ?? sizeWhenLost)) throw new SshError('lost', 'la connexion a été perdue')
  if (loss) return new JobLost(loss === 'rebooted' ? 'host_rebooted' : 'job_killed', notes)
  return { code: Number(code), notes }
}
