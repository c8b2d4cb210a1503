import type { JobPart } from '../db/jobs.ts'
import type { Log } from '../platform/log.ts'
import { retry } from '../platform/retry.ts'
import { type Command, type Host, HOST_HELPER, script, SshError } from '../ssh/ssh.ts'
import type { Answering, Ending, LeftBy, Leftovers, Prepared } from './kind.ts'
import { LeaseLost } from './output.ts'
import { programOf } from './program.ts'
import { type Patience, retryHost, retryStorage } from './retry.ts'
import { RUN } from './runner.ts'
import { ANSWER, CANCEL, CLEAN, START, withNotes } from './script.ts'

/** The part of a kind of job that the host is asked for. */
export interface HostJobKind {
  prepare(args: unknown, host: Host, job: string): Promise<Prepared>
  leftovers(args: unknown, host: Host, of: Omit<LeftBy, 'settings'>): Promise<Leftovers | undefined>
  answer(args: unknown, question: string, by: Omit<Answering, 'settings'>): Promise<string[] | undefined>
}

/** Starts, cancels and removes one job on the host; `follow.ts` reads its output. */
export interface HostJob {
  /**
   * Starts the job exactly once, however often the connection is lost; awaits `beforeStart` before each attempt. Returns
   * the parts of a job that has any. Rejects with a StartNotAttempted when the host was never asked.
   */
  start(beforeStart: () => Promise<void>, options: { askedBefore: boolean }): Promise<readonly JobPart[] | undefined>
  /** Ends the job and all its processes. */
  cancel(): Promise<void>
  /**
   * Returns the unfinished work of a job that was cancelled or lost; undefined when the host cannot be asked. Rejects
   * when `signal` aborts.
   */
  leftovers(of: { ending: Ending; notes: readonly string[] }): Promise<Leftovers | undefined>
  /**
   * Answers a question of the running command; false when it was not answered. A failure is only logged: the command
   * does not wait for ever. `signal` ends an answer that takes long.
   */
  answer(question: string, signal: AbortSignal): Promise<boolean>
  /**
   * Removes the job's folder, and tries again for a minute after a lost connection. False when it could not: the failure
   * is logged, and `removeLeftFolders` tries again later.
   */
  clean(): Promise<boolean>
}

/** A start takes a few process starts; a runner that has not reported by then never will. */
const START_MS = 30_000
/** How long a look at what a job has left, and the removal of its folder, is tried again after a lost connection. */
const LOOK_MS = 60_000
const LOOK_AGAIN_MS = 1_000
/** `CANCEL` gives processes 10 s to end, and kills them for 10 more. */
const CANCEL_MS = 40_000

export function createHostJob(
  {
    host,
    log,
    signal,
    clock,
    patience,
  }: { host: Host; log: Log; signal: AbortSignal; clock(): number; patience?(): Patience | undefined },
  kind: HostJobKind,
  { id, name, args, mostOutput }: { id: string; name: string; args: unknown; mostOutput: number },
): HostJob {
  const persisting = { log, signal, job: id, clock }
  /** Tries for `LOOK_MS`: a connection that is lost just now would leave the record, or the host, in a worse state. */
  const persistently = <result>(work: () => Promise<result>): Promise<result> => {
    const since = clock()
    const pauseAfter = (error: unknown) =>
      error instanceof SshError && clock() - since < LOOK_MS ? LOOK_AGAIN_MS : undefined
    return retry(work, pauseAfter, signal)
  }
  return {
    async start(beforeStart, { askedBefore }) {
      let prepared: Prepared | undefined
      let asked = askedBefore
      // A host that may have begun the job may be away because of it.
      return retryHost({ ...persisting, patience: () => (asked ? patience?.() : undefined) }, async () => {
        try {
          prepared ??= await kind.prepare(args, host, id)
          await beforeStart()
          for (const command of startCommands({ name, mostOutput }, prepared)) {
            const { code, stderr } = await host.exec(command, { rights: 'script', timeoutMs: START_MS })
            if (code !== 0) throw new StartFailed(lastLine(stderr) || `la tâche n’a pas démarré (code ${code})`)
          }
          return prepared.parts
        } catch (error) {
          // The host may have started the job, or have a piece of its program, although the answer was lost. Asking
          // again is harmless.
          asked ||= prepared !== undefined && error instanceof SshError && error.mayHaveBegun
          // A command that cannot be prepared for a reason other than SSH fails again on each attempt.
          const unfit = prepared === undefined && !(error instanceof SshError)
          const ours = error instanceof Error && !(error instanceof LeaseLost || error instanceof StartFailed)
          if ((!asked || unfit) && ours) throw new StartNotAttempted(error)
          throw error
        }
      })
    },
    cancel: () =>
      retryHost(persisting, async () => {
        const helper = (await host.elevation()) === 'helper' ? [HOST_HELPER] : []
        const { code, stderr } = await host.exec(script(CANCEL, 'ops-panel-job', name, ...helper), {
          rights: 'script',
          timeoutMs: CANCEL_MS,
        })
        if (code !== 0) log.warn({ job: id, stderr }, 'a cancelled job left processes behind')
      }),
    async leftovers(of) {
      try {
        return await persistently(() => kind.leftovers(args, host, { ...of, id, signal }))
      } catch (error) {
        // Another instance looks again, and ends the job.
        if (signal.aborted) throw error
        log.warn({ job: id, err: error }, 'what a job left behind could not be looked at')
        return undefined
      }
    },
    async answer(question, ending) {
      const answering = { ...persisting, signal: AbortSignal.any([signal, ending]) }
      const work = () => kind.answer(args, question, { id, host, signal: answering.signal })
      try {
        const lines = await retryStorage(answering, () => retryHost(answering, work))
        if (!lines) return true
        const { code, stderr } = await retryHost(answering, () =>
          host.exec(script(ANSWER, 'ops-panel-job', name, question, ...lines), { rights: 'script' }),
        )
        if (code !== 0) log.warn({ job: id, question, stderr }, 'the answer to a question of a job was not written')
        return code === 0
      } catch (error) {
        if (!answering.signal.aborted)
          log.warn({ job: id, question, err: error }, 'a question of a job was not answered')
        return false
      }
    },
    async clean() {
      try {
        await persistently(() => removeFolders(host, [name]))
        return true
      } catch (error) {
        log.warn({ job: id, err: error }, 'job folder not removed')
        return false
      }
    },
  }
}

/** Removes folders of ended jobs from the host. */
export async function removeFolders(host: Host, names: readonly string[]): Promise<void> {
  const { code, stderr } = await host.exec(script(CLEAN, 'ops-panel-job', ...names), { rights: 'script' })
  if (code !== 0) throw new Error(lastLine(stderr) || `a folder of a job could not be removed (${code})`)
}

/** Returns the commands that start a job, in their order. The last one starts it; each may be repeated. */
export function startCommands(
  { name, mostOutput }: { name: string; mostOutput: number },
  { command, parts, notes, program }: Prepared,
): Command[] {
  const isNoting = parts !== undefined || notes === true || program !== undefined
  const { word, puts } = programOf(name, program)
  const own = isNoting ? withNotes(name, command) : command
  return [...puts, script(START, 'ops-panel-job', RUN, name, String(mostOutput), word, ...own)]
}

/** The host could not start a job. Its folder stays for inspection. */
export class StartFailed extends Error {
  override readonly name = 'StartFailed'
}

/** The host was not asked to start a job; `cause` says why. */
export class StartNotAttempted extends Error {
  override readonly name = 'StartNotAttempted'

  constructor(cause: Error) {
    super(cause.message, { cause })
  }
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}
