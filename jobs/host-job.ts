import type { JobPart } from '../db/jobs.ts'
import type { Log } from '../platform/log.ts'
import { type Command, type Host, HOST_HELPER, script, SshError } from '../ssh/ssh.ts'
import type { AnyJobKind } from './kind.ts'
import { LeaseLost } from './output.ts'
import { retryHost } from './retry.ts'
import { RUN } from './runner.ts'
import { CANCEL, CLEAN, START, withNotes } from './script.ts'

/** A job's command at the host, but for its output. */
export interface HostJob {
  /**
   * Has it begun, once, however often the connection is lost; `mayBegin` is asked before each try. What kept the host from
   * being asked at all comes as a NotBegun. Its parts, if it has any.
   */
  start(mayBegin: () => Promise<void>, options: { askedBefore: boolean }): Promise<readonly JobPart[] | undefined>
  /** Ends it, with everything that it runs. */
  cancel(): Promise<void>
  /** What it left behind when it was cancelled; nothing when that cannot be looked at. */
  leftovers(): Promise<string[]>
  /** Removes its folder; one that cannot be removed now does no harm. */
  clean(): Promise<void>
}

/** Starting takes a few process starts; the runner has said who it is by then, or never will. */
const START_MS = 30_000
/** What is asked to end is given 10 s, and what is killed a few more. */
const CANCEL_MS = 40_000

export function createHostJob(
  { host, log, signal, clock }: { host: Host; log: Log; signal: AbortSignal; clock(): number },
  kind: AnyJobKind,
  { id, name, args, mostOutput }: { id: string; name: string; args: unknown; mostOutput: number },
): HostJob {
  const persisting = { log, signal, job: id, clock }
  return {
    async start(mayBegin, { askedBefore }) {
      let start: Command | undefined
      let parts: readonly JobPart[] | undefined
      let asked = askedBefore
      return retryHost(persisting, async () => {
        try {
          if (!start) {
            const prepared = await kind.prepare(args, host)
            parts = prepared.parts
            const command = parts ? withNotes(name, prepared.command) : prepared.command
            start = script(START, 'ops-panel-job', RUN, name, String(mostOutput), ...command)
          }
          await mayBegin()
          const { code, stderr } = await host.exec(start, { rights: 'script', timeoutMs: START_MS })
          if (code !== 0) throw new NotStarted(lastLine(stderr) || `la tâche n’a pas démarré (code ${code})`)
          return parts
        } catch (error) {
          // Whether the host has begun it is not known, and asking once more does no harm. Before that, it has not.
          asked ||= start !== undefined && error instanceof SshError && error.mayHaveBegun
          // What cannot be prepared because of what it is does not mend by itself.
          const unfit = start === undefined && !(error instanceof SshError)
          const ours = error instanceof Error && !(error instanceof LeaseLost || error instanceof NotStarted)
          if ((!asked || unfit) && ours) throw new NotBegun(error)
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
    async leftovers() {
      try {
        return await kind.leftovers(args, host)
      } catch (error) {
        log.warn({ job: id, err: error }, 'what a cancelled job left behind could not be looked at')
        return []
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

/** The host could not begin a job: what it left is for who wants to look. */
export class NotStarted extends Error {
  override readonly name = 'NotStarted'
}

/** The host has not been asked to begin a job, and why. */
export class NotBegun extends Error {
  override readonly name = 'NotBegun'

  constructor(cause: Error) {
    super(cause.message, { cause })
  }
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}
