import type { JobRow } from '../db/jobs.ts'
import { script } from './command.ts'
import type { Host, HostStream } from './host.ts'
import type { JobOutput } from './job-output.ts'
import { FOLLOW, OUTPUT_MARK } from './job-script.ts'
import { createTextReader } from './output-text.ts'
import { SshError } from './ssh-connection.ts'

export interface JobOutcome {
  /** Exit code of the job's command. */
  code: number
}

/**
 * Reads a started job's output from where its row says to the end, and hands it to `output`; all of it is stored
 * when this resolves. Rejects with an SshError when the connection or the job is lost, with an AbortError when
 * `signal` aborts; the job runs on at the host then.
 */
export async function followOutput(
  { host, output, signal }: { host: Host; output: JobOutput; signal: AbortSignal },
  { id, host_offset, output_size }: Pick<JobRow, 'id' | 'host_offset' | 'output_size'>,
): Promise<JobOutcome> {
  const stream = await host.stream(script(FOLLOW, 'ops-panel-job', id, String(host_offset)), { rights: 'script' })
  stream.end.catch(() => {})
  const close = () => stream.close()
  let mark: NodeJS.Timeout | undefined
  signal.addEventListener('abort', close)
  try {
    signal.throwIfAborted()
    const text = createTextReader(host_offset)
    let offset = output_size
    const write = async (piece: { bytes: Buffer; sourceEnd: number }) => {
      const at = offset
      offset += piece.bytes.length
      await output.write({ offset: at, bytes: piece.bytes, hostOffset: piece.sourceEnd })
    }
    let received = host_offset
    mark = setTimeout(close, MARK_MS)
    for await (const chunk of afterMark(stream.stdout, () => clearTimeout(mark))) {
      received += chunk.length
      await write(text.push(chunk))
    }
    const end = await outcome(stream, received)
    await write(text.flush())
    return end
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    clearTimeout(mark)
    signal.removeEventListener('abort', close)
    close()
    await output.flush()
  }
}

const MARK = Buffer.from(`${OUTPUT_MARK}\n`)
/** Start-up files that take longer than this never come to an end. */
const MARK_MS = 30_000
/** Longer than any start-up file's greeting. */
const MAX_GREETING = 64 * 1024

/** What follows the mark; before it comes what the account's start-up files print, which is nobody's output. */
async function* afterMark(chunks: AsyncIterable<Buffer>, found: () => void): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of chunks) {
    if (!head) {
      yield chunk
      continue
    }
    head = Buffer.concat([head, chunk])
    const at = head.indexOf(MARK)
    if (at >= 0) {
      const rest = head.subarray(at + MARK.length)
      head = undefined
      found()
      if (rest.length > 0) yield rest
    } else if (head.length > MAX_GREETING) {
      throw new SshError('lost', 'les fichiers de démarrage du compte de service écrivent trop')
    }
  }
}

/** Reads the line that `FOLLOW` ends with; whatever else stands on stderr is the host's chatter. */
async function outcome(stream: HostStream, received: number): Promise<JobOutcome> {
  const { stderr } = await stream.end
  const words = /^ops-panel (exit|lost|gone) ?(\d*) ?(\d*)$/m.exec(stderr)
  if (!words) throw new SshError('lost', stderr.trim().split('\n').at(-1) || 'la connexion a été perdue')
  const [, how, first = '', second = ''] = words
  if (how === 'gone') throw new SshError('lost', 'le dossier de la tâche a disparu de l’hôte')
  if (how === 'lost') throw new SshError('lost', 'la tâche a été interrompue sur l’hôte (arrêt forcé ou redémarrage)')
  if (received < Number(second)) throw new SshError('lost', 'la connexion a été perdue')
  return { code: Number(first) }
}
