import { setTimeout as pause } from 'node:timers/promises'
import type Docker from 'dockerode'
import * as z from 'zod'
import { hasAnswered, inspectIfThere, lastLines, runInside } from './docker-engine.ts'

/** A service on a slow machine starts in seconds; one that takes longer has been stopped by what it tries. */
const START_MS = 60_000
const ASK_MS = 500
/** Lines of a log are for machines; what Node says of an error goes on after the line that names it. */
const NO_REASON = /^(\{|\s+at |Node\.js v)/

/**
 * Waits until a container serves, by asking the program inside it; else why it does not, in French. One whose `boot_id` is
 * still `boot` is the service from before.
 */
export async function waitFor(
  engine: Docker,
  { boot, program }: { boot: string; program: readonly string[] },
  id: string,
): Promise<string | undefined> {
  const until = performance.now() + START_MS
  for (;;) {
    const found = await inspectIfThere(engine, id)
    if (!found) return 'le conteneur a disparu'
    const { State } = found
    if (!State.Running && !State.Restarting) {
      if (State.OOMKilled) return 'il s’est arrêté au démarrage : la mémoire du conteneur n’a pas suffi'
      const last = (await lastLines(engine, found)).findLast((line) => !NO_REASON.test(line)) ?? ''
      return `il s’est arrêté au démarrage (code ${State.ExitCode})${last && ` : ${last}`}`
    }
    if (State.Running && (await serves(engine, id, program, boot))) return undefined
    if (performance.now() > until) return `il n’a pas démarré en ${START_MS / 1000} s`
    await pause(ASK_MS)
  }
}

const Health = z.object({ status: z.literal('ok'), boot_id: z.string() })

async function serves(engine: Docker, id: string, program: readonly string[], boot: string): Promise<boolean> {
  try {
    const said = await runInside(engine, id, [...program, 'health'])
    const health = Health.safeParse(JSON.parse(said))
    return health.success && health.data.boot_id !== boot
  } catch (error) {
    // It has ended meanwhile, or its program has written something else.
    if (hasAnswered(error) || error instanceof SyntaxError) return false
    throw error
  }
}
