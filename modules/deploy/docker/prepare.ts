import { setTimeout as pause } from 'node:timers/promises'
import type Docker from 'dockerode'
import { type Inspected, inspectIfThere, tolerate } from './engine.ts'
import { buildImage } from './image.ts'
import { DEPLOYMENT_LABEL, HELPER_LABEL, isMounted, nameOf } from './request.ts'
import { removeOwnImage } from './swap.ts'

/** Interval at which the engine is asked whether an earlier helper is gone. */
const LOOK_MS = 1_000

/** Returns the image of the new container. Builds one with the modules, unless a volume would hide their folder. */
export async function imageFor(engine: Docker, self: Inspected, folder: string, deployment: string): Promise<string> {
  if (!isMounted(self, folder)) {
    const tag = `ops-panel-modules:${deployment}`
    await buildImage(engine, self.Image, folder, tag)
    return tag
  }
  // The name of the image, unless it names another image by now because somebody has pulled a new one.
  const named = await engine
    .getImage(self.Config.Image)
    .inspect()
    .catch(() => undefined)
  return named?.Id === self.Image ? self.Config.Image : self.Image
}

/** Returns which container shares the network of this one, in French: a replacement would cut its network. */
export async function findNetworkSharer(engine: Docker, self: Inspected): Promise<string | undefined> {
  const modes = [`container:${self.Id}`, `container:${nameOf(self)}`]
  const all = await engine.listContainers({ all: true })
  const sharing = all.find(({ HostConfig }) => modes.includes(HostConfig.NetworkMode ?? ''))
  return sharing && `${sharing.Names[0] ?? sharing.Id} partage son réseau`
}

/** Maximum time that a running helper gets to end; it takes as long as the service takes to stop and start. */
const HELPER_MS = 120_000

/**
 * Removes leftovers of an earlier attempt whose names are needed. Throws when such a name belongs to a container that
 * was not created here, or to a new container that runs.
 */
export async function removeLeftovers(engine: Docker, self: Inspected): Promise<void> {
  const nameTaken = (name: string) =>
    new Error(`un autre conteneur s’appelle ${name} ; s’il ne sert plus : « docker rm ${name} »`)
  for (const until = performance.now() + HELPER_MS; ; await pause(LOOK_MS)) {
    const left = await inspectIfThere(engine, `${nameOf(self)}.helper`)
    if (!left) break
    if (left.Config.Labels[HELPER_LABEL] === undefined) throw nameTaken(`${nameOf(self)}.helper`)
    if ((left.State.Running || left.State.Restarting) && performance.now() < until) continue
    await tolerate([404, 409], engine.getContainer(left.Id).remove({ force: true }))
    break
  }
  const fresh = await inspectIfThere(engine, `${nameOf(self)}.new`)
  if (fresh) {
    if (fresh.State.Running || fresh.Config.Labels[DEPLOYMENT_LABEL] === undefined) throw nameTaken(nameOf(fresh))
    await tolerate([404, 409], engine.getContainer(fresh.Id).remove())
    await removeOwnImage(engine, fresh)
  }
  // This may be the previous service, which only its owner may remove.
  if (await inspectIfThere(engine, `${nameOf(self)}.old`)) throw nameTaken(`${nameOf(self)}.old`)
}

/** Keeps a request out of the address, where dockerode would repeat all of it, including secrets of the environment. */
export function asRequestBody(request: Docker.ContainerCreateOptions) {
  const { name, ...body } = request
  return { name: name ?? '', _query: { name }, _body: body }
}
