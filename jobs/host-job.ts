import type { JobPart } from '../db/jobs.ts'
import type { Log } from '../platform/log.ts'
import { type Command, type Host, HOST_HELPER, script, SshError } from '../ssh/ssh.ts'
import type { AnyJobKind, Ending, Leftovers } from './kind.ts'
import { LeaseLost } from './output.ts'
import { retryHost } from './retry.ts'
import { RUN } from './runner.ts'
import { ANSWER, CANCEL, CLEAN, START, withNotes } from './script.ts'

/** Starts, cancels and removes one job on the host; `follow.ts` reads its output. */
export interface HostJob {
  /**
   * Starts the job exactly once, however often the connection is lost; awaits `beforeStart` before each attempt. Returns
   * the parts of a job that has any. Rejects with a StartNotAttempted when the host was never asked.
   */
  start(beforeStart: () => Promise<void>, options: { askedBefore: boolean }): Promise<readonly JobPart[] | undefined>
  /** Ends the job and all its processes. */
  cancel(): Promise<void>
  /** Returns the unfinished work of a job that was cancelled or lost; undefined when the host cannot be asked. */
  leftovers(ending: Ending): Promise<Leftovers | undefined>
  /** Answers a question of the running command. A failure is only logged: the command does not wait for ever. */
  answer(question: string): Promise<void>
  /** Removes the job's folder. A failure is only logged: a later start removes old folders. */
  clean(): Promise<void>
}

/** A start takes a few process starts; a runner that has not reported by then never will. */
const START_MS = 30_000
/** `CANCEL` gives processes 10 s to end, and kills them for 10 more. */
const CANCEL_MS = 40_000

export function createHostJob(
  { host, log, signal, clock }: { host: Host; log: Log; signal: AbortSignal; clock(): number },
  kind: AnyJobKind,
  { id, name, args, mostOutput }: { id: string; name: string; args: unknown; mostOutput: number },
): HostJob {
  const persisting = { log, signal, job: id, clock }
  return {
    async start(beforeStart, { askedBefore }) {
      let start: Command | undefined
      let parts: readonly JobPart[] | undefined
      let asked = askedBefore
      return retryHost(persisting, async () => {
        try {
          if (!start) {
            const prepared = await kind.prepare(args, host, id)
            parts = prepared.parts
            const isNoting = parts !== undefined || prepared.notes === true
            const command = isNoting ? withNotes(name, prepared.command) : prepared.command
            start = script(START, 'ops-panel-job', RUN, name, String(mostOutput), ...command)
          }
          await beforeStart()
          const { code, stderr } = await host.exec(start, { rights: 'script', timeoutMs: START_MS })
          if (code !== 0) throw new StartFailed(lastLine(stderr) || `la tâche n’a pas démarré (code ${code})`)
          return parts
        } catch (error) {
          // The host may have started the job although the answer was lost. Asking again is harmless.
          asked ||= start !== undefined && error instanceof SshError && error.mayHaveBegun
          // A command that cannot be prepared for a reason other than SSH fails again on each attempt.
          const unfit = start === undefined && !(error instanceof SshError)
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
    async leftovers(ending) {
      try {
        return await kind.leftovers(args, host, { ending, id })
      } catch (error) {
        log.warn({ job: id, err: error }, 'what a job left behind could not be looked at')
        return undefined
      }
    },
    async answer(question) {
      try {
        const lines = await kind.answer(args, question)
        if (!lines) return
        await retryHost(persisting, () =>
          host.exec(script(ANSWER, 'ops-panel-job', name, question, ...lines), { rights: 'script' }),
        )
      } catch (error) {
        log.warn({ job: id, question, err: error }, 'a question of a job was not answered')
      }
    },
    async clean() {
      try {
        await host.exec(script(CLEAN, 'ops-panel-job', name), { rights: 'script' })
      } catch (error) {
        log.warn({ job: id, err: error }, 'job folder not removed')
      }
    },
  }
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
