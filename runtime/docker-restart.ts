import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type Docker from 'dockerode'
import type { Config } from './config.ts'
import type { Judge } from './deployment.ts'
import { connectEngine, type Inspected, inspectIfThere, lastLines, ownContainer, unless } from './docker-engine.ts'
import { buildImage } from './docker-image.ts'
import {
  BASE_LABEL,
  DEPLOYMENT_LABEL,
  HELPER_LABEL,
  helperRequest,
  isMounted,
  nameOf,
  POLICY_LABEL,
  REPLACES_LABEL,
  requestLike,
  whyNot,
} from './docker-request.ts'
import { type Journal, lastTold, type Plan, SWAP_STEPS, settle } from './docker-swap.ts'
import type { Instance } from './instance.ts'
import type { Log } from './log.ts'

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
const UNKNOWN = 'unknown'
/** Since when the helper brings the former container back. */
const BACK = SWAP_STEPS.indexOf('clearing')
const isBack = ({ step }: Journal) => SWAP_STEPS.indexOf(step) >= BACK

/** Rejects when the engine does not answer, or does not know the container. */
async function thisContainer(config: Config, program: readonly string[], log: Log): Promise<Containers> {
  const engine = await connectEngine(config.dockerSocket)
  const self = await ownContainer(engine)
  if (!self) throw new Error('le moteur Docker ne connaît pas de conteneur où ce service s’exécuterait')
  const own = `${self.Id}/${self.State.StartedAt}`

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

  const runs = async (id: string) => {
    const [kind, container = '', since] = id.split('/')
    if (kind !== 'docker') return false
    if (await helper(REPLACES_LABEL, container)) return true
    const found = await inspectIfThere(engine, container)
    return found?.State.Running === true && found.State.StartedAt === since
  }

  return {
    made: self.Config.Labels[DEPLOYMENT_LABEL],
    instance: {
      id: `docker/${own}/${randomBytes(6).toString('hex')}`,
      isGone: async (id) => id.startsWith('docker/') && !(await runs(id)),
      runs,
    },

    async verdict(deployment, owner) {
      const at = await helper(HELPER_LABEL, deployment)
      if (containerOf(owner) !== self.Id) return at ? 'judged' : 'try'
      if (!at) return { refused: 'le conteneur n’a pas été remplacé' }
      if (!isBack(at)) return 'wait'
      return { refused: at.reason ?? 'le nouveau conteneur n’a pas démarré' }
    },

    async settled(deployment, owner) {
      for (let seen = performance.now(); ; await pause(LOOK_MS)) {
        const at = await helperState(deployment).catch((): typeof UNKNOWN => UNKNOWN)
        if (at === undefined) break
        // One that has only been ended is about to be started again, or the engine itself is ending.
        if (at === UNKNOWN || at.Running || at.Restarting) seen = performance.now()
        else if (performance.now() - seen > STOPPED_MS) break
      }
      const former = containerOf(owner)
      if (former === undefined || former === self.Id) return
      // The helper has done it, unless somebody has removed it before.
      await settle(engine, self.Id, former).catch((error: unknown) =>
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
        create.Labels = { ...create.Labels, [DEPLOYMENT_LABEL]: deployment, [POLICY_LABEL]: JSON.stringify(policy) }
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

/** With a volume over the folder of modules the files are there already, and those of an image would be hidden. */
async function imageFor(engine: Docker, self: Inspected, folder: string, deployment: string): Promise<string> {
  if (!isMounted(self, folder)) {
    const tag = `ops-panel-modules:${deployment}`
    await buildImage(engine, self.Image, folder, tag)
    return tag
  }
  // By its name as long as that still is this image: it may have been pulled anew.
  const named = await engine
    .getImage(self.Config.Image)
    .inspect()
    .catch(() => undefined)
  return named?.Id === self.Image ? self.Config.Image : self.Image
}

/** Whoever has joined the network of this one would be cut off; or it is this service, and the other one is not it. */
async function whoShares(engine: Docker, self: Inspected): Promise<string | undefined> {
  const modes = [`container:${self.Id}`, `container:${nameOf(self)}`]
  const all = await engine.listContainers({ all: true })
  const sharing = all.find(({ HostConfig }) => modes.includes(HostConfig.NetworkMode ?? ''))
  return sharing && `${sharing.Names[0] ?? sharing.Id} partage son réseau`
}

/** A helper that still works is waited for; it takes the service's start and end. */
const HELPER_MS = 120_000

/** Removes what an earlier attempt has left under the names that are needed. Never what runs, or is not known to be that. */
async function clean(engine: Docker, self: Inspected): Promise<void> {
  const inTheWay = (name: string) =>
    new Error(`un autre conteneur s’appelle ${name} ; s’il ne sert plus : « docker rm ${name} »`)
  for (const until = performance.now() + HELPER_MS; ; await pause(LOOK_MS)) {
    const left = await inspectIfThere(engine, `${nameOf(self)}.helper`)
    if (!left) break
    if (left.Config.Labels[HELPER_LABEL] === undefined) throw inTheWay(`${nameOf(self)}.helper`)
    if ((left.State.Running || left.State.Restarting) && performance.now() < until) continue
    await unless([404, 409], engine.getContainer(left.Id).remove({ force: true }))
    break
  }
  const fresh = await inspectIfThere(engine, `${nameOf(self)}.new`)
  if (fresh) {
    if (fresh.State.Running || fresh.Config.Labels[DEPLOYMENT_LABEL] === undefined) throw inTheWay(nameOf(fresh))
    await unless([404, 409], engine.getContainer(fresh.Id).remove())
  }
  // It may be the former service, which nobody but its owner may remove.
  if (await inspectIfThere(engine, `${nameOf(self)}.old`)) throw inTheWay(`${nameOf(self)}.old`)
}

/** Without an engine the service serves all the same, and changes no module with code: why is told to who tries. */
export async function findContainer(config: Config, log: Log): Promise<{ containers?: Containers; missing?: string }> {
  const [, script = ''] = process.argv
  const program = [process.execPath, ...process.execArgv, ...(script === process.execPath ? [] : [script])]
  try {
    return { containers: await thisContainer(config, program, log) }
  } catch (error) {
    log.error(
      { err: error, socket: config.dockerSocket },
      'no container to be replaced: modules with code stay as they are',
    )
    const reason = error instanceof Error ? error.message : String(error)
    return { missing: `réparez l’accès au moteur Docker par ${config.dockerSocket} (${reason}), puis redémarrez-le.` }
  }
}

/** dockerode would repeat all of it in the address, secrets of the environment included. */
function inBody(request: Docker.ContainerCreateOptions) {
  const { name, ...body } = request
  return { name: name ?? '', _query: { name }, _body: body }
}
