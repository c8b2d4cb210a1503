import { posix } from 'node:path'
import type Docker from 'dockerode'
import type { Config } from '../../../platform/config.ts'
import type { Inspected } from './engine.ts'

/** Of an image that was made here: the image without modules, which the next one is made from as well. */
export const BASE_LABEL = 'ops-panel.base'
/** Of a container that was made here: the deployment that it is for. */
export const DEPLOYMENT_LABEL = 'ops-panel.deployment'
/** Of such a container: the one in whose place it was made. */
export const FORMER_LABEL = 'ops-panel.former'
/** Of such a container: the restart policy that it has once it has served, as JSON. */
export const POLICY_LABEL = 'ops-panel.policy'
/** Of a helper: the deployment, and the container that it replaces. */
export const HELPER_LABEL = 'ops-panel.helper'
export const REPLACES_LABEL = 'ops-panel.replaces'

/** What a container is made with, and the networks that it joins after that: older engines take one at once. */
export interface Request {
  create: Docker.ContainerCreateOptions
  networks: { name: string; endpoint: Docker.EndpointSettings }[]
}

/**
 * A container with the settings of another one and another image. It is never started again by the engine until it has
 * served: its restart policy is given to it then.
 */
export function requestLike(old: Inspected, image: string, name: string): Request {
  const { Config, HostConfig } = old
  const mode = HostConfig.NetworkMode ?? 'default'
  const { Hostname, ...config } = Config
  // The host's own where it is shared; as before elsewhere, also when it is the id: data are known by it.
  const hasName = mode !== 'host' && !mode.startsWith('container:') && HostConfig.UTSMode !== 'host'
  const endpoints = endpointsOf(old)
  const first = endpoints.find((each) => each.name === mode || each.id === mode)
  return {
    create: {
      ...config,
      ...(hasName && { Hostname }),
      name,
      Image: image,
      Labels: ownLabels(Config.Labels ?? {}),
      HostConfig: { ...HostConfig, ...sameVolumes(old), RestartPolicy: { Name: 'no' } },
      ...(first && { NetworkingConfig: { EndpointsConfig: { [first.name]: first.endpoint } } }),
    },
    networks: endpoints.filter((each) => each !== first).map(({ name, endpoint }) => ({ name, endpoint })),
  }
}

/** Whether a volume, or a folder of the host, lies over this folder of a container: it hides what the image has there. */
export function isMounted({ Mounts }: Inspected, folder: string): boolean {
  return Mounts.some(({ Type, Destination }) => Type !== 'tmpfs' && isWithin(folder, Destination))
}

/** Whether a folder is in memory alone: nothing closer than that is mounted over it. */
function isInMemory({ HostConfig, Mounts }: Inspected, folder: string): boolean {
  const memory = [
    ...Object.keys(HostConfig.Tmpfs ?? {}),
    ...Mounts.flatMap(({ Type, Destination }) => (Type === 'tmpfs' ? [Destination] : [])),
  ]
  const closest = (places: string[]) =>
    Math.max(0, ...places.filter((place) => isWithin(folder, place)).map((place) => plain(place).length))
  const lasting = Mounts.flatMap(({ Type, Destination }) => (Type === 'tmpfs' ? [] : [Destination]))
  return closest(memory) > closest(lasting)
}

const isWithin = (folder: string, place: string) => `${folder}/`.startsWith(`${plain(place)}/`)

/** Why a container is not to be replaced: what is in no volume would stay behind, and what `--rm` removes is not there to go back to. */
export function whyNot(
  self: Inspected,
  { dataDir, databaseUrl, secretKey, modulesDir }: Pick<Config, 'dataDir' | 'databaseUrl' | 'secretKey' | 'modulesDir'>,
): string | undefined {
  if (self.HostConfig.AutoRemove) return 'il a été lancé avec --rm'
  if (self.HostConfig.NetworkMode?.startsWith('container:')) return 'il partage le réseau d’un autre conteneur'
  if (self.Config.Labels?.['com.docker.swarm.task.id']) return 'il appartient à Swarm, qui le remplacerait de son côté'
  if (isInMemory(self, modulesDir)) return `${modulesDir} est en mémoire (tmpfs) et serait perdu`
  const file = /^file:(?:\/\/[^/]*)?([^?]*)/.exec(databaseUrl)?.[1]
  const needed = [...(secretKey ? [] : [dataDir]), ...(file === undefined ? [] : [decodeURI(file)])]
  const lost = needed.find((path) => !isMounted(self, path))
  return lost && `${lost} n’est pas dans un volume et serait perdu`
}

/** A container that runs a program of the image where the other one's files lie, as root, with its environment. */
export function helperRequest(
  old: Inspected,
  image: string,
  deployment: string,
  words: readonly string[],
): Docker.ContainerCreateOptions {
  const { GroupAdd, SecurityOpt, UsernsMode, Privileged, VolumesFrom } = old.HostConfig
  const given = { GroupAdd, SecurityOpt, UsernsMode, Privileged, VolumesFrom }
  const same = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null))
  return {
    name: `${nameOf(old)}.helper`,
    Image: image,
    User: '0:0',
    WorkingDir: '/',
    Env: old.Config.Env,
    // An empty list clears what the image has; its words would follow these.
    Entrypoint: words.slice(0, 1),
    Cmd: words.slice(1),
    Tty: false,
    Healthcheck: { Test: ['NONE'] },
    Labels: { [HELPER_LABEL]: deployment, [REPLACES_LABEL]: old.Id },
    HostConfig: {
      ...same,
      ...sameVolumes(old),
      NetworkMode: 'none',
      // Some minutes of trying, each time twice as late: the engine may be starting itself.
      RestartPolicy: { Name: 'on-failure', MaximumRetryCount: 20 },
      // Its last line says how it went; it must be readable whatever the machine's default is.
      LogConfig: { Type: 'json-file', Config: {} },
    },
  }
}

export function nameOf({ Name }: Inspected): string {
  return Name.replace(/^\//, '')
}

/** Volumes without a name would be made anew, and empty: they are mounted by the name that the engine gave them. */
function sameVolumes({ HostConfig, Mounts }: Inspected): Pick<Docker.HostConfig, 'Binds' | 'Mounts'> {
  const named = (HostConfig.Mounts ?? []).filter(({ Type, Source }) => Type !== 'volume' || Source)
  const binds = HostConfig.Binds ?? []
  const given = new Set([
    ...binds.map((bind) => plain(bind.split(':')[1])),
    ...named.map(({ Target }) => plain(Target)),
  ])
  const unnamed = Mounts.filter(
    ({ Type, Name, Destination }) => Type === 'volume' && Name && !given.has(plain(Destination)),
  )
  const more = unnamed.map(({ Name, Destination, RW }) => `${Name}:${Destination}${RW ? '' : ':ro'}`)
  return { Binds: [...binds, ...more], ...(named.length > 0 ? { Mounts: named } : { Mounts: [] }) }
}

/** What was asked of each network, not what the engine gave: addresses by the day, the short id among the aliases. */
function endpointsOf({ Id, HostConfig, NetworkSettings }: Inspected) {
  return Object.entries(NetworkSettings.Networks ?? {}).flatMap(([name, network]) => {
    // These belong to the mode; the engine refuses settings for them.
    if (name === 'host' || name === 'none' || HostConfig.NetworkMode?.startsWith('container:')) return []
    if (name === 'bridge' && ['default', 'bridge'].includes(HostConfig.NetworkMode ?? 'default')) return []
    const aliases = (network.Aliases ?? []).filter((alias: string) => !Id.startsWith(alias))
    const endpoint: Docker.EndpointSettings = {
      ...(network.IPAMConfig && { IPAMConfig: network.IPAMConfig }),
      ...(network.Links && { Links: network.Links }),
      ...(aliases.length > 0 && { Aliases: aliases }),
      ...('DriverOpts' in network && isRecord(network.DriverOpts) && { DriverOpts: network.DriverOpts }),
    }
    return [{ name, id: network.NetworkID, endpoint }]
  })
}

/** A folder as the engine tells it, whatever it was given. */
function plain(folder: string | undefined): string {
  return posix.normalize(folder ?? '').replace(/\/+$/, '')
}

function isRecord(value: unknown): value is { [key: string]: string } {
  return typeof value === 'object' && value !== null && Object.values(value).every((each) => typeof each === 'string')
}

/** The new image brings its own. */
function ownLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => key !== BASE_LABEL))
}
