import type Docker from 'dockerode'
import * as z from 'zod'
import { readIfExists, replaceFileAtomically } from '../../../platform/files.ts'
import { connectEngine, hasAnswered, type Inspected, inspectIfThere, unless, waitFor } from './engine.ts'
import { BASE_LABEL, HELPER_LABEL, nameOf, POLICY_LABEL } from './request.ts'

/** What the helper goes through: to the end when the new container serves, else by way of the last three. */
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

/** What the helper is given: containers by their ids, and how the program is called inside them. */
export const Plan = z.object({
  socket: z.string(),
  deployment: z.string(),
  old: z.string(),
  fresh: z.string(),
  name: z.string(),
  /** The `boot_id` of the service that asked. */
  boot: z.string(),
  program: z.array(z.string()),
})
export type Plan = z.infer<typeof Plan>

/** How far it has come; `reason` is why the new container is not kept. */
export const Journal = z.object({ step: z.enum(SWAP_STEPS), reason: z.string().optional() })
export type Journal = z.infer<typeof Journal>

/** The last that a helper has told of itself; among its lines may be warnings of the program's. */
export function lastTold(lines: readonly string[]): Journal | undefined {
  const told = lines.filter((line) => line.startsWith('{"step"'))
  return told.map((line) => Journal.parse(JSON.parse(line))).at(-1)
}

/** In the helper's own files, which stay while it is started again. */
const JOURNAL = '/swap.json'
/** In seconds; twice what the service takes for its own end. */
const STOP_S = 10

/**
 * Puts a container in the place of another one, and the other one back when it does not serve. May be ended at any point:
 * the engine starts it again, and it goes on with the step of its journal, each of which may be repeated.
 */
export async function runSwap(argument: string): Promise<void> {
  const plan = Plan.parse(JSON.parse(argument))
  const engine = await connectEngine(plan.socket)
  const text = await readIfExists(JOURNAL)
  let journal: Journal = text === undefined ? { step: 'stopping' } : Journal.parse(JSON.parse(text))
  for (;;) {
    const line = JSON.stringify(journal)
    if (line !== text) await replaceFileAtomically(JOURNAL, line)
    // Also for the former service, which reads why it is back.
    process.stdout.write(`${line}\n`)
    const next = await STEPS[journal.step](engine, plan, journal)
    if (!next) return
    journal = next
  }
}

type Take = (engine: Docker, plan: Plan, journal: Journal) => Promise<Journal | undefined>

/** What the engine refuses is why the new container is not kept; what it does not answer is tried again by another start. */
const orClear =
  (take: Take): Take =>
  async (engine, plan, journal) => {
    try {
      return await take(engine, plan, journal)
    } catch (error) {
      if (!(error instanceof Error) || !hasAnswered(error)) throw error
      return { step: 'clearing', reason: error.message }
    }
  }

const STEPS: Record<SwapStep, Take> = {
  stopping: orClear(async (engine, { old }) => {
    await unless([304], engine.getContainer(old).stop({ t: STOP_S }))
    return { step: 'renaming' }
  }),

  renaming: orClear(async (engine, { old, fresh, name }) => {
    await rename(engine, old, `${name}.old`)
    await rename(engine, fresh, name)
    return { step: 'starting' }
  }),

  starting: orClear(async (engine, { old, fresh }) => {
    // A machine that has started meanwhile may have started it as well.
    await unless([304], engine.getContainer(old).stop({ t: STOP_S }))
    await unless([304], engine.getContainer(fresh).start())
    return { step: 'waiting' }
  }),

  waiting: orClear(async (engine, plan) => {
    const reason = await waitFor(engine, plan, plan.fresh)
    return reason === undefined ? { step: 'settling' } : { step: 'clearing', reason }
  }),

  /** From here on there is no way back: it serves. */
  async settling(engine, { old, fresh }) {
    await settle(engine, fresh, old)
    // Until a moment ago the engine would not have started it again by itself.
    await unless([304], engine.getContainer(fresh).start())
    return { step: 'settled' }
  },

  async settled(engine, { deployment }) {
    await leave(engine, deployment)
    return undefined
  },

  async clearing(engine, { old, fresh }, { reason = '' }) {
    // Somebody has removed the one that there is to go back to: better one that may not serve than none.
    if (!(await inspectIfThere(engine, old))) return { step: 'settled' }
    const failed = await inspectIfThere(engine, fresh)
    if (failed) {
      await unless([404, 409], engine.getContainer(fresh).remove({ force: true }))
      await removeOwnImage(engine, failed)
    }
    return { step: 'restoring', reason }
  },

  /** The former service takes the change back: it finds the reason in this one's last line. */
  async restoring(engine, plan, { reason = '' }) {
    await unless([304], engine.getContainer(plan.old).start())
    // Somebody may have taken the name: that it serves is worth more.
    await unless([409], rename(engine, plan.old, plan.name))
    // Without another boot it has not been stopped at all.
    await waitFor(engine, { ...plan, boot: '' }, plan.old)
    return { step: 'restored', reason }
  },

  async restored(engine, { deployment }) {
    await leave(engine, deployment)
    return undefined
  },
}

const Policy = z.object({ Name: z.string(), MaximumRetryCount: z.number() })

/**
 * Gives a container that serves the restart policy of the one that it has replaced, and removes that one. May be repeated;
 * also by the service itself, when somebody has removed the helper.
 */
export async function settle(engine: Docker, fresh: string, old: string): Promise<void> {
  const { Config } = await engine.getContainer(fresh).inspect()
  const policy = Config.Labels[POLICY_LABEL]
  if (policy) await engine.getContainer(fresh).update({ RestartPolicy: Policy.parse(JSON.parse(policy)) })
  const former = await inspectIfThere(engine, old)
  if (!former) return
  await unless([404, 409], engine.getContainer(old).remove({ force: true }))
  await removeOwnImage(engine, former)
}

async function rename(engine: Docker, id: string, name: string): Promise<void> {
  const container = engine.getContainer(id)
  if (nameOf(await container.inspect()) !== name) await container.rename({ name })
}

/** An image that was made for one container has no other use. */
export async function removeOwnImage(engine: Docker, { Image, Config }: Inspected): Promise<void> {
  if (Config.Labels[BASE_LABEL] === undefined) return
  await engine
    .getImage(Image)
    .remove({})
    .catch((error: unknown) => {
      if (!hasAnswered(error)) throw error
    })
}

/** Its own end: nothing of it is left. */
export async function leave(engine: Docker, deployment: string): Promise<void> {
  const own = await engine.listContainers({ all: true, filters: { label: [`${HELPER_LABEL}=${deployment}`] } })
  for (const { Id } of own) await unless([404, 409], engine.getContainer(Id).remove({ force: true }))
}
