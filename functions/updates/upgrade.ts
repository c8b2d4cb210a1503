import type { JobPart } from '../../db/jobs.ts'
import { type Prepared, waitingParts } from '../../jobs/jobs.ts'
import type { Host } from '../../ssh/ssh.ts'
import { listContainers } from '../hypervisor/pct.ts'
import { parseTarget } from '../hypervisor/target.ts'
import { elevationOf } from '../elevation/installed-helper.ts'
import { fail } from '../services.ts'
import { type Scope, sudoFor, upgrade } from './apt.ts'
import { unfinishedIn } from './unfinished.ts'

/** First word of an upgrade's topic and of its events. */
export const UPDATE_EVENT = 'update'

/**
 * Returns the command of an upgrade without a plan, with its parts where it has several. Of all containers, those with a
 * higher `lateness` (of `lxc:<id>`) come after those with a lower one. Throws `target_invalid`.
 */
export async function upgradeOf(text: string, host: Host, lateness: (target: string) => number): Promise<Prepared> {
  const { scope, parts } = await coverage(text, host, lateness)
  const command = upgrade(scope, sudoFor(await elevationOf(host)))
  return { command, ...(parts && { parts }) }
}

/** Returns French lines that say what a cancelled upgrade has left unfinished. */
export async function leftoversOf(text: string, host: Host): Promise<string[]> {
  const places = placesOf(await whatRuns(text, host))
  const found: string[] = []
  const unread: string[] = []
  const asked = new Set<string>()
  for (const { name, place } of places) {
    const unfinished = await unfinishedIn(place, host)
    if (!unfinished) unread.push(name)
    else asked.add(unfinished.by)
    if (unfinished?.left === null) found.push(`${unfinished.by} n’a pas pu dire ce qu’il a laissé (${name}).`)
    if (!unfinished?.left?.length) continue
    const { by, left } = unfinished
    found.push(
      by === 'dpkg'
        ? `dpkg a été interrompu (${name}) : ${named(left)}. La prochaine mise à jour répare d’abord.`
        : `${by} n’a pas fini son travail (${name}) : ${named(left).slice(0, LONGEST)}.`,
    )
  }
  if (unread.length > 0) found.push(`L’état de dpkg n’a pas pu être lu (${named(unread)}).`)
  const [by = 'dpkg', ...others] = asked
  return found.length > 0
    ? found
    : [
        others.length > 0
          ? 'Aucun gestionnaire de paquets n’a rien laissé d’inachevé.'
          : `${by} n’a rien laissé d’inachevé.`,
      ]
}

/**
 * Returns the queue of a target. Jobs of one queue run one after another. `lxc/*` shares with every container's queue;
 * the host has its own.
 */
export function queueOf(text: string): string {
  const target = parseTarget(text)
  if (!target) return ''
  if (target.kind === 'container') return `lxc/${/^\d+$/.test(target.id) ? Number(target.id) : target.id}`
  return target.kind === 'host' ? 'host' : 'lxc/*'
}

function placesOf(scope: Scope): { name: string; place: string }[] {
  if (scope.scope === 'host') return [{ name: 'hôte', place: 'host' }]
  const ids = scope.scope === 'container' ? [scope.id] : scope.ids
  return ids.map((id) => ({ name: `LXC ${id}`, place: id }))
}

/** Resolves a target to what it covers now, with the containers' names where there are several. */
async function coverage(
  text: string,
  host: Host,
  lateness: (target: string) => number = () => 0,
): Promise<{ scope: Scope; parts?: JobPart[] }> {
  const target = parseTarget(text)
  if (!target) throw fail('target_invalid', { values: { target: text } })
  if (target.kind === 'host') return { scope: { scope: 'host' } }
  if (target.kind === 'container') return { scope: { scope: 'container', id: target.id } }
  const listed = (await listContainers(host)).map(({ vmid, name }) => ({ id: String(vmid), name }))
  // The order of the list stays among equals.
  const parts = waitingParts(listed.sort((one, other) => lateness(`lxc:${one.id}`) - lateness(`lxc:${other.id}`)))
  return { scope: { scope: 'all', ids: parts.map(({ id }) => id) }, parts }
}

/** Like `coverage`, without stopped containers, which cannot answer. */
async function whatRuns(text: string, host: Host): Promise<Scope> {
  if (parseTarget(text)?.kind !== 'all') return (await coverage(text, host)).scope
  const running = (await listContainers(host)).filter(({ status }) => status === 'running')
  return { scope: 'all', ids: running.map(({ vmid }) => String(vmid)) }
}

/** Characters of the messages of a package manager. */
const LONGEST = 1_000
/** Most packages that a message names. It counts the rest. */
const NAMED = 50

function named(packages: readonly string[]): string {
  const more = packages.length - NAMED
  return [...packages.slice(0, NAMED), ...(more > 0 ? [`et ${more} autre${more > 1 ? 's' : ''}`] : [])].join(', ')
}
