import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type Docker from 'dockerode'
import type { Config } from './config.ts'
import type { Verdict } from './deployment.ts'
import { connectEngine, type Inspected, inspectIfThere, lastLines, ownContainer, unless } from './docker-engine.ts'
import { buildImage } from './docker-image.ts'
import {
  DEPLOYMENT_LABEL,
  HELPER_LABEL,
  helperRequest,
  isMounted,
  nameOf,
  REPLACES_LABEL,
  requestLike,
  whyNot,
} from './docker-request.ts'
import { type Journal, lastTold, type Plan, SWAP_STEPS } from './docker-swap.ts'
import type { Instance } from './instance.ts'
import type { Log } from './log.ts'

/** The service in a container, which is followed by another container. */
export interface Containers {
  /** For deployments: an owner is a container, as long as it runs since then or a helper sees to it. */
  instance: Instance
  /** What a start is to do with a deployment that has come as far as the restart, and is `owner`'s. */
  verdict(deployment: string, owner: string): Promise<Verdict>
  /** Never resolves: this container is stopped. Rejects when the other one could not be made, or did not take over. */
  replace(deployment: string, boot: string): Promise<never>
}

/** How long until the engine is asked again whether the helper lives. */
const LOOK_MS = 1_000
/** Since when the helper brings the former container back. */
const BACK = SWAP_STEPS.indexOf('clearing')
const isBack = ({ step }: Journal) => SWAP_STEPS.indexOf(step) >= BACK

/** Rejects when the engine does not answer, or does not know the container. */
async function thisContainer(config: Config, program: readonly string[]): Promise<Containers> {
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

  const runs = async (id: string) => {
    const [kind, container = '', since] = id.split('/')
    if (kind !== 'docker') return false
    if (await helper(REPLACES_LABEL, container)) return true
    const found = await inspectIfThere(engine, container)
    return found?.State.Running === true && found.State.StartedAt === since
  }

  return {
    instance: {
      id: `docker/${own}/${randomBytes(6).toString('hex')}`,
      isGone: async (id) => id.startsWith('docker/') && !(await runs(id)),
      runs,
    },

    async verdict(deployment, owner) {
      if (owner.split('/')[1] !== self.Id) return 'try'
      const at = await helper(HELPER_LABEL, deployment)
      if (!at) return { refused: 'le conteneur n’a pas été remplacé' }
      if (!isBack(at)) return 'wait'
      return { refused: at.reason ?? 'le nouveau conteneur n’a pas démarré' }
    },

    async replace(deployment, boot) {
      const now = await engine.getContainer(self.Id).inspect()
      const why = whyNot(now, config)
      if (why !== undefined) throw new Error(`ce conteneur ne peut pas être remplacé : ${why}`)
      const name = nameOf(now)
      const made: (() => Promise<unknown>)[] = []
      try {
        await clean(engine, now)
        const image = await imageFor(engine, now, config.modulesDir, deployment)
        if (!isMounted(now, config.modulesDir)) made.push(() => engine.getImage(image).remove())
        const { create, networks } = requestLike(now, image, `${name}.new`)
        create.Labels = { ...create.Labels, [DEPLOYMENT_LABEL]: deployment }
        const fresh = await engine.createContainer(inBody(create))
        made.push(() => fresh.remove({ force: true }))
        for (const { name: network, endpoint } of networks)
          await engine.getNetwork(network).connect({ Container: fresh.id, EndpointConfig: endpoint })
        const { Name = 'no', MaximumRetryCount = 0 } = now.HostConfig.RestartPolicy ?? {}
        const policy = { Name: Name || 'no', MaximumRetryCount }
        const words = { socket: config.dockerSocket, deployment, old: now.Id, fresh: fresh.id, name, boot, policy }
        const plan: Plan = { ...words, program: [...program] }
        const request = helperRequest(now, image, deployment, [...program, 'replace-container', JSON.stringify(plan)])
        const helping = await engine.createContainer(inBody(request))
        made.push(() => helping.remove({ force: true }))
        await helping.start()
        for (;;) {
          await pause(LOOK_MS)
          const at = await helper(HELPER_LABEL, deployment)
          if (!at) throw new Error('le remplacement du conteneur s’est arrêté')
          if (isBack(at)) throw new Error(at.reason)
        }
      } catch (error) {
        for (const remove of made.reverse()) await unless([404, 409], remove())
        throw error
      }
    },
  }
}

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

/** Removes what an earlier attempt has left under the names that are needed. */
async function clean(engine: Docker, self: Inspected): Promise<void> {
  for (const name of [`${nameOf(self)}.helper`, `${nameOf(self)}.new`, `${nameOf(self)}.old`]) {
    const left = await inspectIfThere(engine, name)
    if (!left) continue
    const { Labels } = left.Config
    const isOurs = Labels[HELPER_LABEL] !== undefined || Labels[DEPLOYMENT_LABEL] !== undefined
    if (!isOurs) throw new Error(`un autre conteneur s’appelle ${name}`)
    await unless([404, 409], engine.getContainer(left.Id).remove({ force: true }))
  }
}

/** Without an engine the service serves all the same, and changes no module with code. */
export async function findContainer(config: Config, log: Log): Promise<Containers | undefined> {
  const [, script = ''] = process.argv
  const program = [process.execPath, ...process.execArgv, ...(script === process.execPath ? [] : [script])]
  return thisContainer(config, program).catch((error: unknown) => {
    log.error(
      { err: error, socket: config.dockerSocket },
      'no container to be replaced: modules with code stay as they are',
    )
    return undefined
  })
}

/** dockerode would repeat all of it in the address, secrets of the environment included. */
function inBody(request: Docker.ContainerCreateOptions) {
  const { name, ...body } = request
  return { name: name ?? '', _query: { name }, _body: body }
}
