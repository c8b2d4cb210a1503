import * as z from 'zod'
import { Failure } from '../../runtime/errors.ts'
import type { RunWave, Wave, WaveJob } from '../../schedules/schedules.ts'
import { containersByApi } from '../hypervisor/api.ts'
import { type Container, CONTAINER_TOOL, listContainers } from '../hypervisor/pct.ts'
import type { Services } from '../services.ts'

/*
 * Decides what a wave covers in the moment in which it starts. The names are those of the schedule; what they mean is
 * read from the host, because containers come, go and stop between two runs.
 */

/** The targets of a wave to work on, and the entries of those that are left alone, each with its reason. */
export interface Covered {
  targets: string[]
  left: WaveJob[]
}

type Named = Pick<Wave, 'targets'>

/** Most targets of one wave: as many as a user's runs may have jobs. */
const MOST = 200

const STOPPED = 'Le conteneur est arrêté : il n’est pas démarré pour cela.'
const GONE = 'L’hôte n’a pas de conteneur avec ce numéro.'
const UNTAGGED = 'Aucun conteneur n’a cette étiquette.'
const TOO_MANY = `Une vague a au plus ${MOST} cibles : les suivantes ne sont pas faites.`

/**
 * Returns what wave `at` covers. A target that a wave names by itself belongs to that wave, and else to the first one that
 * covers it. `former` are the waves as the run has carried them out until now. Rejects with an SshError.
 */
export async function coveredBy(
  services: Pick<Services, 'host' | 'settings'>,
  { waves, at, former, user }: { waves: readonly Named[]; at: number; former: readonly RunWave[]; user: number },
): Promise<Covered> {
  const wave = waves[at]?.targets ?? []
  const needsList = wave === 'rest' || wave.some((target) => target !== 'host')
  const listed = needsList ? await listContainers(services.host, { user, timeoutMs: LIST_MS }) : []
  const names = (one: Named) => (one.targets === 'rest' ? [] : one.targets)
  const others = waves.filter((_, place) => place !== at).flatMap(names)
  // `rest` leaves out what any other wave's tag covers.
  const wanted = (wave === 'rest' ? others : wave).flatMap((target) => tagOf(target) ?? [])
  const tags = wanted.length > 0 ? await readTags(services, listed, user) : new Map<number, readonly string[]>()
  if (typeof tags === 'string') return decided(wave === 'rest' ? ['rest'] : wave, 'impossible', tags)
  return coverage({ wave, others, listed, tags, former })
}

/** The facts that decide. `others` are the names in all other waves. */
interface Situation {
  wave: Wave['targets']
  others: readonly string[]
  listed: readonly Container[]
  tags: ReadonlyMap<number, readonly string[]>
  former: readonly RunWave[]
}

export function coverage({ wave, others, listed, tags, former }: Situation): Covered {
  const states = new Map(listed.map(({ vmid, status }) => [`lxc:${vmid}`, status]))
  const elsewhere = new Set(others)
  const begun = new Set(former.flatMap(({ jobs }) => jobs.flatMap((job) => (job.job_id === null ? [] : [job.target]))))
  const tagged = (tag: string) =>
    listed.flatMap(({ vmid }) => ((tags.get(vmid) ?? []).includes(tag) ? [`lxc:${vmid}`] : []))
  const found = new Map<string, WaveJob | undefined>()
  const add = (target: string, left?: WaveJob) => {
    if (!begun.has(target) && (left === undefined || !found.has(target))) found.set(target, left)
  }
  const container = (target: string) => {
    const status = states.get(target)
    if (status === undefined) add(target, entry(target, 'impossible', GONE))
    else add(target, status === 'running' ? undefined : entry(target, 'skipped', STOPPED))
  }
  if (wave === 'rest') {
    const covered = new Set(others.flatMap((target) => tagged(tagOf(target) ?? '')))
    for (const [target, status] of states)
      if (status === 'running' && !elsewhere.has(target) && !covered.has(target)) add(target)
  } else {
    for (const target of wave) {
      const tag = tagOf(target)
      if (target === 'host') add(target)
      else if (tag === undefined) container(target)
      else {
        const those = tagged(tag)
        if (those.length === 0) add(target, entry(target, 'skipped', UNTAGGED))
        for (const one of those) if (!elsewhere.has(one)) container(one)
      }
    }
  }
  const targets = [...found].flatMap(([target, left]) => (left ? [] : [target]))
  const left = [...found.values()].flatMap((one) => one ?? [])
  if (targets.length > MOST) left.push(entry(targets[MOST] ?? '', 'impossible', TOO_MANY))
  return { targets: targets.slice(0, MOST), left }
}

function entry(target: string, outcome: string, reason: string): WaveJob {
  return { target, job_id: null, outcome, reason }
}

function decided(targets: readonly string[], outcome: string, reason: string): Covered {
  return { targets: [], left: targets.map((target) => entry(target, outcome, reason)) }
}

/** Returns `x` of `tag:x`. */
function tagOf(target: string): string | undefined {
  return target.startsWith('tag:') ? target.slice('tag:'.length) : undefined
}

const LIST_MS = 60_000
const CONFIG_MS = 20_000
/** Configurations that are read at once. */
const AT_ONCE = 4
/** Tags of one container, far more than anybody sets. */
const MOST_TAGS = 500
const Tags = z.string().max(20_000)

/**
 * Reads the tags of containers: by the hypervisor's API where the service has a token, else with the container tool. The
 * host helper does not show configurations. Returns a French sentence where nothing tells them.
 */
async function readTags(
  { host, settings }: Pick<Services, 'host' | 'settings'>,
  listed: readonly Container[],
  user: number,
): Promise<ReadonlyMap<number, readonly string[]> | string> {
  try {
    const access = await settings.hypervisor()
    if (access) return new Map((await containersByApi(access)).map(({ vmid, tags }) => [vmid, tags ?? []]))
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return `Les étiquettes des conteneurs ne sont pas connues : ${error.message}`
  }
  if ((await host.elevation()) === 'helper')
    return 'Les étiquettes des conteneurs ne sont pas connues : il faut un jeton de l’API de l’hyperviseur, dans les réglages.'
  const tags = new Map<number, readonly string[]>()
  const rest = [...listed]
  const read = async () => {
    for (let one = rest.shift(); one; one = rest.shift()) {
      const command = [CONTAINER_TOOL, 'config', String(one.vmid)] as const
      const { code, stdout } = await host.exec(command, { rights: 'command', user, timeoutMs: CONFIG_MS })
      // A container that was removed meanwhile has none.
      if (code === 0) tags.set(one.vmid, tagsIn(stdout))
    }
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, read))
  } finally {
    // After a failure the others stop, too.
    rest.length = 0
  }
  return tags
}

/** Returns the tags in the output of `pct config`. */
function tagsIn(config: string): string[] {
  const [, text = ''] = /^tags: (.*)$/m.exec(config) ?? []
  return (Tags.safeParse(text).data ?? '')
    .split(/[;,\s]+/)
    .filter((tag) => tag !== '')
    .slice(0, MOST_TAGS)
}
