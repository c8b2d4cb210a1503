/*
 * The requests for the new container and for the helper. They repeat the settings, networks and unnamed volumes of the
 * previous container, because the engine copies none of them.
 */

import { posix } from 'node:path'
import type Docker from 'dockerode'
import type { Config } from '../../../platform/config.ts'
import type { Inspected } from './engine.ts'

/** Label of an image built here: the image without modules, from which the next one is built too. */
export const BASE_LABEL = 'ops-panel.base'
/** Label of a container created here: its deployment. */
export const DEPLOYMENT_LABEL = 'ops-panel.deployment'
/** Label of a container created here: the container that it replaces. */
export const FORMER_LABEL = 'ops-panel.former'
/** Label of a container created here: the restart policy that it gets once it serves, as JSON. */
export const POLICY_LABEL = 'ops-panel.policy'
/** Labels of a helper: its deployment, and the container that it replaces. */
export const HELPER_LABEL = 'ops-panel.helper'
export const REPLACES_LABEL = 'ops-panel.replaces'

/** The request for a container, and the networks that it joins later: older engines accept only one in the request. */
export interface Request {
  create: Docker.ContainerCreateOptions
  networks: { name: string; endpoint: Docker.EndpointSettings }[]
}

/**
 * Returns the request for a container with the settings of another one and another image. It has no restart policy, so
 * that the engine does not restart it before it has served; `finishSwap` adds the policy.
 */
export function requestLike(old: Inspected, image: string, name: string): Request {
  const { Config, HostConfig } = old
  const mode = HostConfig.NetworkMode ?? 'default'
  const { Hostname, ...config } = Config
  // The host's own name where it is shared. Elsewhere the name stays, because stored data may refer to it.
  const hasName = mode !== 'host' && !mode.startsWith('container:') && HostConfig.UTSMode !== 'host'
  const endpoints = endpointsOf(old)
  const first = endpoints.find((each) => each.name === mode || each.id === mode)
  return {
    create: {
      ...config,
      ...(hasName && { Hostname }),
      name,
      Image: image,
      Labels: withoutBaseLabel(Config.Labels ?? {}),
      HostConfig: { ...HostConfig, ...sameVolumes(old), RestartPolicy: { Name: 'no' } },
      ...(first && { NetworkingConfig: { EndpointsConfig: { [first.name]: first.endpoint } } }),
    },
    networks: endpoints.filter((each) => each !== first).map(({ name, endpoint }) => ({ name, endpoint })),
  }
}

/** Returns whether a volume or a folder of the host is mounted over a folder, and hides the image's files there. */
export function isMounted({ Mounts }: Inspected, folder: string): boolean {
  return Mounts.some(({ Type, Destination }) => Type !== 'tmpfs' && isWithin(folder, Destination))
}

/** Returns whether the closest mount over a folder is in memory. */
function isInMemory({ HostConfig, Mounts }: Inspected, folder: string): boolean {
  const memory = [
    ...Object.keys(HostConfig.Tmpfs ?? {}),
    ...Mounts.flatMap(({ Type, Destination }) => (Type === 'tmpfs' ? [Destination] : [])),
  ]
  const closest = (places: string[]) =>
    Math.max(0, ...places.filter((place) => isWithin(folder, place)).map((place) => normalized(place).length))
  const lasting = Mounts.flatMap(({ Type, Destination }) => (Type === 'tmpfs' ? [] : [Destination]))
  return closest(memory) > closest(lasting)
}

const isWithin = (folder: string, place: string) => `${folder}/`.startsWith(`${normalized(place)}/`)

/**
 * Returns why a container cannot be replaced, in French: data outside volumes would be lost, and with `--rm` there
 * would be no container to go back to.
 */
export function replacementObstacle(
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

/** Returns the request for the helper, which runs a program as root, with another container's files and environment. */
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
    // An entry point of its own and an empty list replace those of the image, whose words would be appended.
    Entrypoint: words.slice(0, 1),
    Cmd: words.slice(1),
    Tty: false,
    Healthcheck: { Test: ['NONE'] },
    Labels: { [HELPER_LABEL]: deployment, [REPLACES_LABEL]: old.Id },
    HostConfig: {
      ...same,
      ...sameVolumes(old),
      NetworkMode: 'none',
      // Tries for some minutes, with doubled delays, because the engine itself may be starting.
      RestartPolicy: { Name: 'on-failure', MaximumRetryCount: 20 },
      // The previous service reads the last line, whatever the default log driver of the machine is.
      LogConfig: { Type: 'json-file', Config: {} },
    },
  }
}

/** Returns the name of a container without its slash. */
export function nameOf({ Name }: Inspected): string {
  return Name.replace(/^\//, '')
}

/** Returns the mounts of a container. Unnamed volumes, which would be new and empty, get the engine's names. */
function sameVolumes({ HostConfig, Mounts }: Inspected): Pick<Docker.HostConfig, 'Binds' | 'Mounts'> {
  const named = (HostConfig.Mounts ?? []).filter(({ Type, Source }) => Type !== 'volume' || Source)
  const binds = HostConfig.Binds ?? []
  const given = new Set([
    ...binds.map((bind) => normalized(bind.split(':')[1])),
    ...named.map(({ Target }) => normalized(Target)),
  ])
  const unnamed = Mounts.filter(
    ({ Type, Name, Destination }) => Type === 'volume' && Name && !given.has(normalized(Destination)),
  )
  const more = unnamed.map(({ Name, Destination, RW }) => `${Name}:${Destination}${RW ? '' : ':ro'}`)
  return { Binds: [...binds, ...more], ...(named.length > 0 ? { Mounts: named } : { Mounts: [] }) }
}

/** Returns the requested settings of each network, without the addresses and aliases that the engine assigned. */
function endpointsOf({ Id, HostConfig, NetworkSettings }: Inspected) {
  return Object.entries(NetworkSettings.Networks ?? {}).flatMap(([name, network]) => {
    // The mode implies these networks, and the engine refuses settings for them.
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

/** Returns a path as the engine reports it, whatever form it had in the request. */
function normalized(folder: string | undefined): string {
  return posix.normalize(folder ?? '').replace(/\/+$/, '')
}

function isRecord(value: unknown): value is { [key: string]: string } {
  return typeof value === 'object' && value !== null && Object.values(value).every((each) => typeof each === 'string')
}

/** Removes the label of the previous image; the new image has its own. */
function withoutBaseLabel(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => key !== BASE_LABEL))
}
