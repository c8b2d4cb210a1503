import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../../platform/config.ts'
import type { Log } from '../../../platform/log.ts'
import { type Instance, ownProgram } from '../../../platform/program.ts'
import type { Judge } from '../deployment.ts'
import { clean, imageFor, inBody, whoShares } from './attempt.ts'
import { inspectIfThere, lastLines, reachEngine, unless } from './engine.ts'
import {
  BASE_LABEL,
  DEPLOYMENT_LABEL,
  FORMER_LABEL,
  HELPER_LABEL,
  helperRequest,
  isMounted,
  nameOf,
  POLICY_LABEL,
  REPLACES_LABEL,
  requestLike,
  whyNot,
} from './request.ts'
import { type Journal, lastTold, leave, type Plan, settle, SWAP_STEPS } from './swap.ts'

/** The service in a container, which is followed by another container. */
export interface Containers extends Judge {
  /** For deployments: an owner is a container, as long as it runs since then or a helper sees to it. */
  instance: Instance
  /** Never resolves: this container is stopped. Rejects when the other one could not be made, or did not take over. */
  replace(deployment: string, boot: string): Promise<never>
}

/** How long until the engine is asked again whether the helper lives. */
const LOOK_MS = 1_000
/** A helper that was ended, and that the engine has not started again in this time, is not started any more. */
const STOPPED_MS = 15_000
/** A service that serves is not kept from changes for ever by an engine that has gone. */
const UNREACHABLE_MS = 300_000
const UNKNOWN = 'unknown'
/** Since when the helper brings the former container back. */
const BACK = SWAP_STEPS.indexOf('clearing')
const isBack = ({ step }: Journal) => SWAP_STEPS.indexOf(step) >= BACK

/** Rejects when the engine does not answer, or does not know the container. */
async function thisContainer(config: Config, program: readonly string[], log: Log): Promise<Containers> {
  const { engine, self } = await reachEngine(config.dockerSocket)
  const own = `${self.Id}/${self.State.StartedAt}`

  const { [DEPLOYMENT_LABEL]: made, [FORMER_LABEL]: former } = self.Config.Labels

  /** The helper of a deployment while it is at work, and how far it has come. */
  const helper = async (label: string, value: string): Promise<Journal | undefined> => {
    const [found] = await engine.listContainers({ all: true, filters: { label: [`${label}=${value}`] } })
    const at = found && (await inspectIfThere(engine, found.Id))
    if (!at || !(at.State.Running || at.State.Restarting)) return undefined
    return lastTold(await lastLines(engine, at)) ?? { step: 'stopping' }
  }

  const helperState = async (deployment: string) => {
    const [found] = await engine.listContainers({ all: true, filters: { label: [`${HELPER_LABEL}=${deployment}`] } })
    return found && (await inspectIfThere(engine, found.Id))?.State
  }

  /** Settles when nothing will be heard of the helper any more. */
  const helperGone = async (deployment: string): Promise<void> => {
    let [seen, answered] = [performance.now(), performance.now()]
    for (; performance.now() - answered < UNREACHABLE_MS; await pause(LOOK_MS)) {
      const at = await helperState(deployment).catch((): typeof UNKNOWN => UNKNOWN)
      if (at !== UNKNOWN) answered = performance.now()
      if (at === undefined) return
      // One that has only been ended is about to be started again, or the engine itself is ending.
      if (at === UNKNOWN || at.Running || at.Restarting) seen = performance.now()
      else if (performance.now() - seen > STOPPED_MS) return
    }
  }

  const settleWithout = async (deployment: string, old: string): Promise<void> => {
    const there = await inspectIfThere(engine, old)
    // Somebody has started it again: which one is to stay is theirs to say.
    if (!there || there.State.Running) return
    // Or the engine, started anew, might start it in the middle of what is over.
    await leave(engine, deployment)
    await settle(engine, self.Id, old)
  }

  const runs = async (id: string) => {
    const [kind, container = '', since] = id.split('/')
    if (kind !== 'docker') return false
    if (await helper(REPLACES_LABEL, container)) return true
    const found = await inspectIfThere(engine, container)
    return found?.State.Running === true && found.State.StartedAt === since
  }

  return {
    made,
    instance: {
      id: `docker/${own}/${randomBytes(6).toString('hex')}`,
      isGone: async (id) => id.startsWith('docker/') && !(await runs(id)),
      runs,
    },

    async verdict(deployment, owner) {
      const at = await helper(HELPER_LABEL, deployment)
      const owning = containerOf(owner)
      if (made === deployment) return at ? 'judged' : 'try'
      // Of a service beside this one; unless its container is gone, and this one was made in its place by hand.
      if (owning !== self.Id) return at || (owning && (await inspectIfThere(engine, owning))) ? 'leave' : 'try'
      if (!at) return { refused: 'le conteneur n’a pas été remplacé' }
      if (!isBack(at)) return 'wait'
      return { refused: at.reason ?? 'le nouveau conteneur n’a pas démarré' }
    },

    async settled(deployment = made) {
      if (deployment === undefined) return
      await helperGone(deployment)
      if (deployment !== made || !former) return
      // The helper has done it, unless somebody has stopped it or removed it before.
      await settleWithout(deployment, former).catch((error: unknown) =>
        log.warn({ err: error }, 'the former container, or the restart policy, is left to you'),
      )
    },

    async replace(deployment, boot) {
      const why = whyNot(self, config) ?? (await whoShares(engine, self))
      if (why !== undefined) throw new Error(`ce conteneur ne peut pas être remplacé : ${why}`)
      const made: (() => Promise<unknown>)[] = []
      try {
        await clean(engine, self)
        // Not before: an earlier helper may have had to give it its restart policy back.
        const now = await engine.getContainer(self.Id).inspect()
        const name = nameOf(now)
        const image = await imageFor(engine, now, config.modulesDir, deployment)
        if (!isMounted(now, config.modulesDir)) made.push(() => engine.getImage(image).remove())
        const { create, networks } = requestLike(now, image, `${name}.new`)
        const { Name = 'no', MaximumRetryCount = 0 } = now.HostConfig.RestartPolicy ?? {}
        const policy = { Name: Name || 'no', MaximumRetryCount }
        create.Labels = { ...create.Labels, [DEPLOYMENT_LABEL]: deployment, [FORMER_LABEL]: self.Id }
        create.Labels[POLICY_LABEL] = JSON.stringify(policy)
        const fresh = await engine.createContainer(inBody(create))
        made.push(() => fresh.remove({ force: true }))
        for (const { name: network, endpoint } of networks)
          await engine.getNetwork(network).connect({ Container: fresh.id, EndpointConfig: endpoint })
        const words = { socket: config.dockerSocket, deployment, old: now.Id, fresh: fresh.id, name, boot }
        const plan: Plan = { ...words, program: [...program] }
        // Its image is not one that goes with the attempt.
        const base = now.Config.Labels[BASE_LABEL] ?? now.Image
        const request = helperRequest(now, base, deployment, [...program, 'replace-container', JSON.stringify(plan)])
        const helping = await engine.createContainer(inBody(request))
        made.push(() => helping.remove({ force: true }))
        await helping.start()
        for (;;) {
          await pause(LOOK_MS)
          // The helper goes on, also when the engine does not answer for a moment.
          const at = await helper(HELPER_LABEL, deployment).catch((): typeof UNKNOWN => UNKNOWN)
          if (at === UNKNOWN) continue
          if (!at) throw new Error('le remplacement du conteneur s’est arrêté')
          if (isBack(at)) throw new Error(at.reason)
        }
      } catch (error) {
        for (const remove of made.reverse()) await unless([404, 409], remove()).catch(() => {})
        throw isSystemError(error) ? new Error(`le moteur Docker n’a pas répondu (${error.message})`) : error
      }
    },
  }
}

/** The container of an owner's id; of one that is none, undefined. */
function containerOf(owner: string): string | undefined {
  const [kind, id] = owner.split('/')
  return kind === 'docker' ? id : undefined
}

const isSystemError = (error: unknown): error is Error => error instanceof Error && 'code' in error

/** Without an engine the service serves all the same, and changes no module with code: why is told to who tries. */
export async function findContainer(config: Config, log: Log): Promise<{ containers?: Containers; missing?: string }> {
  try {
    return { containers: await thisContainer(config, ownProgram(), log) }
  } catch (error) {
    log.error(
      { err: error, socket: config.dockerSocket },
      'no container to be replaced: modules with code stay as they are',
    )
    return { missing: error instanceof Error ? error.message : String(error) }
  }
}
