import { setTimeout as pause } from 'node:timers/promises'
import type Docker from 'dockerode'
import { type Inspected, inspectIfThere, unless } from './engine.ts'
import { buildImage } from './image.ts'
import { DEPLOYMENT_LABEL, HELPER_LABEL, isMounted, nameOf } from './request.ts'
import { removeOwnImage } from './swap.ts'

/** How long until it is looked again whether an earlier helper is gone. */
const LOOK_MS = 1_000

/** With a volume over the folder of modules the files are there already, and those of an image would be hidden. */
export async function imageFor(engine: Docker, self: Inspected, folder: string, deployment: string): Promise<string> {
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
export async function whoShares(engine: Docker, self: Inspected): Promise<string | undefined> {
  const modes = [`container:${self.Id}`, `container:${nameOf(self)}`]
  const all = await engine.listContainers({ all: true })
  const sharing = all.find(({ HostConfig }) => modes.includes(HostConfig.NetworkMode ?? ''))
  return sharing && `${sharing.Names[0] ?? sharing.Id} partage son réseau`
}

/** A helper that still works is waited for; it takes the service's start and end. */
const HELPER_MS = 120_000

/** Removes what an earlier attempt has left under the names that are needed. Never what runs, or is not known to be that. */
export async function clean(engine: Docker, self: Inspected): Promise<void> {
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
    await removeOwnImage(engine, fresh)
  }
  // It may be the former service, which nobody but its owner may remove.
  if (await inspectIfThere(engine, `${nameOf(self)}.old`)) throw inTheWay(`${nameOf(self)}.old`)
}

/** dockerode would repeat all of it in the address, secrets of the environment included. */
export function inBody(request: Docker.ContainerCreateOptions) {
  const { name, ...body } = request
  return { name: name ?? '', _query: { name }, _body: body }
}
