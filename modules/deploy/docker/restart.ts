/*
 * Restarts a service that runs in a container: another container replaces it, because no process inside a container can
 * start that container again with another image. An installation of a module with code needs such a restart.
 */

import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../../platform/config.ts'
import type { Log } from '../../../platform/log.ts'
import { type Instance, ownProgram } from '../../../platform/program.ts'
import type { Supervisor } from '../deployment.ts'
import { inspectIfThere, lastLogLines, reachEngine, tolerate } from './engine.ts'
import { asRequestBody, findNetworkSharer, imageFor, removeLeftovers } from './prepare.ts'
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
  replacementObstacle,
  requestLike,
} from './request.ts'
import { finishSwap, type Journal, lastJournal, type Plan, removeHelper, SWAP_STEPS } from './swap.ts'

/** Replaces the container of this service by another one. */
export interface ContainerRestart extends Supervisor {
  /** The owner of deployments. It runs until its container stops or restarts, and while a helper replaces it. */
  instance: Instance
  /** Rejects when no new container can be created or take over; otherwise the helper stops this container. */
  replace(deployment: string, boot: string): Promise<never>
}

/** Interval at which the engine is asked for the helper. */
const LOOK_MS = 1_000
/** After this time, the engine does not restart a helper that has ended. */
const STOPPED_MS = 15_000
/** An engine that stays away must not block further changes of a service that serves. */
const UNREACHABLE_MS = 300_000
const UNKNOWN = 'unknown'
/** From this step on, the helper brings the previous container back. */
const FIRST_STEP_BACK = SWAP_STEPS.indexOf('clearing')
const isGoingBack = ({ step }: Journal) => SWAP_STEPS.indexOf(step) >= FIRST_STEP_BACK

/** Rejects when the engine does not answer or does not know the container of this process. */
async function createContainerRestart(config: Config, program: readonly string[], log: Log): Promise<ContainerRestart> {
  const { engine, self } = await reachEngine(config.dockerSocket)
  const own = `${self.Id}/${self.State.StartedAt}`

  const { [DEPLOYMENT_LABEL]: createdFor, [FORMER_LABEL]: previous } = self.Config.Labels

  const findHelper = async (label: string, value: string) => {
    const [found] = await engine.listContainers({ all: true, filters: { label: [`${label}=${value}`] } })
    return found && (await inspectIfThere(engine, found.Id))
  }

  /** Returns how far the helper with this label has come; undefined when none is at work. */
  const helperJournal = async (label: string, value: string): Promise<Journal | undefined> => {
    const helper = await findHelper(label, value)
    if (!helper || !(helper.State.Running || helper.State.Restarting)) return undefined
    return lastJournal(await lastLogLines(engine, helper)) ?? { step: 'stopping' }
  }

  /** Settles when the helper has ended for good. */
  const waitForHelperEnd = async (deployment: string): Promise<void> => {
    let [seen, answered] = [performance.now(), performance.now()]
    for (; performance.now() - answered < UNREACHABLE_MS; await pause(LOOK_MS)) {
      const state = await findHelper(HELPER_LABEL, deployment).then(
        (helper) => helper?.State,
        (): typeof UNKNOWN => UNKNOWN,
      )
      if (state !== UNKNOWN) answered = performance.now()
      if (state === undefined) return
      // The engine may be about to restart a helper that has just ended, or may be stopping itself.
      if (state === UNKNOWN || state.Running || state.Restarting) seen = performance.now()
      else if (performance.now() - seen > STOPPED_MS) return
    }
  }

  const finishWithoutHelper = async (deployment: string, old: string): Promise<void> => {
    const found = await inspectIfThere(engine, old)
    // A person has started the previous container again, and decides which one stays.
    if (!found || found.State.Running) return
    // Otherwise a restarted engine might start the helper again, although the swap is complete.
    await removeHelper(engine, deployment)
    await finishSwap(engine, self.Id, old)
  }

  const runs = async (id: string) => {
    const [kind, container = '', since] = id.split('/')
    if (kind !== 'docker') return false
    if (await helperJournal(REPLACES_LABEL, container)) return true
    const found = await inspectIfThere(engine, container)
    return found?.State.Running === true && found.State.StartedAt === since
  }

  return {
    createdFor,
    instance: {
      id: `docker/${own}/${randomBytes(6).toString('hex')}`,
      isGone: async (id) => id.startsWith('docker/') && !(await runs(id)),
      runs,
    },

    async decide(deployment, owner) {
      const journal = await helperJournal(HELPER_LABEL, deployment)
      const owning = containerOf(owner)
      if (createdFor === deployment) return journal ? 'supervised' : 'try'
      // Another service owns it, unless that container is gone: then somebody has replaced it by this one by hand.
      if (owning !== self.Id) return journal || (owning && (await inspectIfThere(engine, owning))) ? 'leave' : 'try'
      if (!journal) return { rollBack: 'le conteneur n’a pas été remplacé' }
      if (!isGoingBack(journal)) return 'wait'
      return { rollBack: journal.reason ?? 'le nouveau conteneur n’a pas démarré' }
    },

    async ended(deployment = createdFor) {
      if (deployment === undefined) return
      await waitForHelperEnd(deployment)
      if (deployment !== createdFor || !previous) return
      // The helper has done this, unless somebody has stopped or removed it.
      await finishWithoutHelper(deployment, previous).catch((error: unknown) =>
        log.warn({ err: error }, 'the former container, or the restart policy, is left to you'),
      )
    },

    async replace(deployment, boot) {
      const obstacle = replacementObstacle(self, config) ?? (await findNetworkSharer(engine, self))
      if (obstacle !== undefined) throw new Error(`ce conteneur ne peut pas être remplacé : ${obstacle}`)
      const removals: (() => Promise<unknown>)[] = []
      try {
        await removeLeftovers(engine, self)
        // Inspected again, because an earlier helper may have restored the restart policy of this container only now.
        const now = await engine.getContainer(self.Id).inspect()
        const name = nameOf(now)
        const image = await imageFor(engine, now, config.modulesDir, deployment)
        if (!isMounted(now, config.modulesDir)) removals.push(() => engine.getImage(image).remove())
        const { create, networks } = requestLike(now, image, `${name}.new`)
        const { Name = 'no', MaximumRetryCount = 0 } = now.HostConfig.RestartPolicy ?? {}
        const policy = { Name: Name || 'no', MaximumRetryCount }
        create.Labels = { ...create.Labels, [DEPLOYMENT_LABEL]: deployment, [FORMER_LABEL]: self.Id }
        create.Labels[POLICY_LABEL] = JSON.stringify(policy)
        const fresh = await engine.createContainer(asRequestBody(create))
        removals.push(() => fresh.remove({ force: true }))
        for (const { name: network, endpoint } of networks)
          await engine.getNetwork(network).connect({ Container: fresh.id, EndpointConfig: endpoint })
        const swap = { socket: config.dockerSocket, deployment, old: now.Id, fresh: fresh.id, name, boot }
        const plan: Plan = { ...swap, program: [...program] }
        // The helper uses the base image, because the image of this attempt is removed if it fails.
        const base = now.Config.Labels[BASE_LABEL] ?? now.Image
        const request = helperRequest(now, base, deployment, [...program, 'replace-container', JSON.stringify(plan)])
        const helper = await engine.createContainer(asRequestBody(request))
        removals.push(() => helper.remove({ force: true }))
        await helper.start()
        for (;;) {
          await pause(LOOK_MS)
          // The helper continues even when the engine does not answer for a moment.
          const journal = await helperJournal(HELPER_LABEL, deployment).catch((): typeof UNKNOWN => UNKNOWN)
          if (journal === UNKNOWN) continue
          if (!journal) throw new Error('le remplacement du conteneur s’est arrêté')
          if (isGoingBack(journal)) throw new Error(journal.reason)
        }
      } catch (error) {
        for (const remove of removals.reverse()) await tolerate([404, 409], remove()).catch(() => {})
        throw isSystemError(error) ? new Error(`le moteur Docker n’a pas répondu (${error.message})`) : error
      }
    },
  }
}

/** Returns the id of the container that an owner's id names; undefined for an owner that is no container. */
function containerOf(owner: string): string | undefined {
  const [kind, id] = owner.split('/')
  return kind === 'docker' ? id : undefined
}

const isSystemError = (error: unknown): error is Error => error instanceof Error && 'code' in error

/**
 * Finds the container of this service. Without an engine the service serves, but installs no module with code;
 * `missing` then says why, in French.
 */
export async function findContainer(
  config: Config,
  log: Log,
): Promise<{ container?: ContainerRestart; missing?: string }> {
  try {
    return { container: await createContainerRestart(config, ownProgram(), log) }
  } catch (error) {
    log.error(
      { err: error, socket: config.dockerSocket },
      'no container to be replaced: modules with code stay as they are',
    )
    return { missing: error instanceof Error ? error.message : String(error) }
  }
}
