/*
 * The helper that swaps two containers of the service. Its journal lets a helper that was killed between two steps
 * continue, so that the machine never ends up with no container of the service, or with two.
 */

import type Docker from 'dockerode'
import * as z from 'zod'
import { readIfExists, replaceFileAtomically } from '../../../platform/files.ts'
import { connectEngine, hasAnswered, type Inspected, inspectIfThere, tolerate, waitUntilServing } from './engine.ts'
import { BASE_LABEL, HELPER_LABEL, nameOf, POLICY_LABEL } from './request.ts'

/** The steps of the helper. It ends with `settled` when the new container serves, otherwise with the last three. */
export const SWAP_STEPS = [
  'stopping',
  'renaming',
  'starting',
  'waiting',
  'settling',
  'settled',
  'clearing',
  'restoring',
  'restored',
] as const
export type SwapStep = (typeof SWAP_STEPS)[number]

/** The helper's argument: the ids of the containers, and the command of the program inside them. */
export const Plan = z.object({
  socket: z.string(),
  deployment: z.string(),
  old: z.string(),
  fresh: z.string(),
  name: z.string(),
  /** The `boot_id` of the service that requested the swap. */
  boot: z.string(),
  program: z.array(z.string()),
})
export type Plan = z.infer<typeof Plan>

/** How far the helper has come; `reason` is why the new container is not kept. */
export const Journal = z.object({ step: z.enum(SWAP_STEPS), reason: z.string().optional() })
export type Journal = z.infer<typeof Journal>

/** Returns the last journal that a helper has printed; its other lines may be warnings of the program. */
export function lastJournal(lines: readonly string[]): Journal | undefined {
  const journals = lines.filter((line) => line.startsWith('{"step"'))
  return journals.map((line) => Journal.parse(JSON.parse(line))).at(-1)
}

/** In the helper's own file system, which survives its restarts. */
const JOURNAL = '/swap.json'
/** In seconds; twice the time that the service needs to stop. */
const STOP_S = 10

/**
 * Replaces a container by another one, and restores it when the other one does not serve. May be killed at any point:
 * the engine restarts the helper, which repeats the step in its journal. Each step may be repeated.
 */
export async function runSwap(argument: string): Promise<void> {
  const plan = Plan.parse(JSON.parse(argument))
  const engine = await connectEngine(plan.socket)
  const text = await readIfExists(JOURNAL)
  let journal: Journal = text === undefined ? { step: 'stopping' } : Journal.parse(JSON.parse(text))
  for (;;) {
    const line = JSON.stringify(journal)
    if (line !== text) await replaceFileAtomically(JOURNAL, line)
    // The previous service reads in this line why it is back.
    process.stdout.write(`${line}\n`)
    const next = await STEPS[journal.step](engine, plan, journal)
    if (!next) return
    journal = next
  }
}

type RunStep = (engine: Docker, plan: Plan, journal: Journal) => Promise<Journal | undefined>

/** Goes back when the engine refuses a step. When the engine does not answer, the helper's next start tries again. */
const clearIfRefused =
  (runStep: RunStep): RunStep =>
  async (engine, plan, journal) => {
    try {
      return await runStep(engine, plan, journal)
    } catch (error) {
      if (!(error instanceof Error) || !hasAnswered(error)) throw error
      return { step: 'clearing', reason: error.message }
    }
  }

const STEPS: Record<SwapStep, RunStep> = {
  stopping: clearIfRefused(async (engine, { old }) => {
    await tolerate([304], engine.getContainer(old).stop({ t: STOP_S }))
    return { step: 'renaming' }
  }),

  renaming: clearIfRefused(async (engine, { old, fresh, name }) => {
    await rename(engine, old, `${name}.old`)
    await rename(engine, fresh, name)
    return { step: 'starting' }
  }),

  starting: clearIfRefused(async (engine, { old, fresh }) => {
    // If the machine has restarted meanwhile, the engine may have started the previous container too.
    await tolerate([304], engine.getContainer(old).stop({ t: STOP_S }))
    await tolerate([304], engine.getContainer(fresh).start())
    return { step: 'waiting' }
  }),

  waiting: clearIfRefused(async (engine, plan) => {
    const reason = await waitUntilServing(engine, plan, plan.fresh)
    return reason === undefined ? { step: 'settling' } : { step: 'clearing', reason }
  }),

  /** The new container serves; from here on there is no way back. */
  async settling(engine, { old, fresh }) {
    await finishSwap(engine, fresh, old)
    // If it ended before it got its restart policy, the engine has not restarted it.
    await tolerate([304], engine.getContainer(fresh).start())
    return { step: 'settled' }
  },

  async settled(engine, { deployment }) {
    await removeHelper(engine, deployment)
    return undefined
  },

  async clearing(engine, { old, fresh }, { reason = '' }) {
    // If somebody has removed the previous container, a new one that may not serve is better than none.
    if (!(await inspectIfThere(engine, old))) return { step: 'settled' }
    const failed = await inspectIfThere(engine, fresh)
    if (failed) {
      await tolerate([404, 409], engine.getContainer(fresh).remove({ force: true }))
      await removeOwnImage(engine, failed)
    }
    return { step: 'restoring', reason }
  },

  /** The previous service rolls the change back; it reads the reason in the helper's last line. */
  async restoring(engine, plan, { reason = '' }) {
    await tolerate([304], engine.getContainer(plan.old).start())
    // If another container has the name, serving under another name is better than not serving.
    await tolerate([409], rename(engine, plan.old, plan.name))
    // Any boot counts, because the previous service may not have been stopped at all.
    await waitUntilServing(engine, { ...plan, boot: '' }, plan.old)
    return { step: 'restored', reason }
  },

  async restored(engine, { deployment }) {
    await removeHelper(engine, deployment)
    return undefined
  },
}

const Policy = z.object({ Name: z.string(), MaximumRetryCount: z.number() })

/**
 * Gives a container that serves the restart policy of the previous one, and removes that one. May be repeated, also by
 * the service itself when somebody has removed the helper.
 */
export async function finishSwap(engine: Docker, fresh: string, old: string): Promise<void> {
  const { Config } = await engine.getContainer(fresh).inspect()
  const policy = Config.Labels[POLICY_LABEL]
  if (policy) await engine.getContainer(fresh).update({ RestartPolicy: Policy.parse(JSON.parse(policy)) })
  const previous = await inspectIfThere(engine, old)
  if (!previous) return
  await tolerate([404, 409], engine.getContainer(old).remove({ force: true }))
  await removeOwnImage(engine, previous)
}

async function rename(engine: Docker, id: string, name: string): Promise<void> {
  const container = engine.getContainer(id)
  if (nameOf(await container.inspect()) !== name) await container.rename({ name })
}

/** Removes the image of a container if it was built for that container only. */
export async function removeOwnImage(engine: Docker, { Image, Config }: Inspected): Promise<void> {
  if (Config.Labels[BASE_LABEL] === undefined) return
  await engine
    .getImage(Image)
    .remove({})
    .catch((error: unknown) => {
      if (!hasAnswered(error)) throw error
    })
}

/** Removes the helper of a deployment, which ends it. */
export async function removeHelper(engine: Docker, deployment: string): Promise<void> {
  const own = await engine.listContainers({ all: true, filters: { label: [`${HELPER_LABEL}=${deployment}`] } })
  for (const { Id } of own) await tolerate([404, 409], engine.getContainer(Id).remove({ force: true }))
}
