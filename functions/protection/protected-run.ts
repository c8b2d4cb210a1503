import { setTimeout as pause } from 'node:timers/promises'
import type { LeftBy, Prepared } from '../../jobs/jobs.ts'
import { type Command, type Elevation, type Host, script } from '../../ssh/ssh.ts'
import { elevationOf } from '../elevation/installed-helper.ts'
import type { HypervisorSettings } from '../hypervisor/settings.ts'
import { stateByApi } from '../hypervisor/snapshot-answers.ts'
import { MANAGERS } from '../managers/managed-scripts.ts'
import { sudoFor } from '../updates/apt.ts'
import { fail } from '../services.ts'
import type { Archived } from './archive.ts'
import { probeWords } from './health-script.ts'
import { PROTECTED, perlText } from './protected-script.ts'
import { STATE } from './step-scripts.ts'
import type { Protection } from './protection.ts'
import type { Found } from './run-record.ts'

/** The name of the snapshot that a job makes. */
export function snapshotName(job: string): string {
  return `panel-${job}`
}

/** A container, and the snapshot or backup that a run is about. */
interface Place {
  id: string
  /** The name of the snapshot. */
  name: string
  elevation: Elevation
  /** Whether the service can do the steps on snapshots by the hypervisor's API (`API_STEPS`). */
  hasApi?: boolean
  /** Asks the API for the state of the container and of the snapshot, in the lines of `STATE`. */
  apiState?(): Promise<readonly string[] | undefined>
}

/**
 * Returns the command that protects the upgrade `command` of a container. Throws `probe_unavailable` where the account
 * cannot run a probe of the policy: an upgrade that is not looked at as asked would be a false promise. `former`: the
 * locations of the backups that the run removes when it has ended well. `of: 'application'`: unchanged packages do not
 * prove that nothing has changed.
 */
export function protectedCommand(
  place: Place,
  protection: Protection,
  command: Command,
  { former = [], of = 'upgrade' }: { former?: readonly string[]; of?: 'upgrade' | 'application' } = {},
): Prepared {
  const { before, backup_storage, keep, on_failure, settle_seconds, probes } = protection
  if (place.elevation === 'helper' && probes.some(({ kind }) => kind === 'command')) throw fail('probe_unavailable')
  const asks = probes.some(({ kind }) => kind === 'http') ? '1' : '0'
  const policy = [before, backup_storage ?? '-', String(keep), on_failure, String(settle_seconds), asks, ...former]
  return task(of, place, { policy, look: probeWords(probes), command })
}

/** As `withManagers`, for a protected run. */
export function withManagersInPerl(prepared: Prepared): Prepared {
  return { ...prepared, program: `${perlText('managers', MANAGERS)}$ENV{managers} = $managers;\n${PROTECTED}` }
}

/** The snapshot or backup that somebody wants to go back to, or to remove. */
export interface Stored {
  kind: 'snapshot' | 'backup'
  location: string | null
  /** The contents of the backup, and the mount points that it does not have and that somebody has agreed to lose. */
  archived?: Archived | null | undefined
  agreed?: readonly string[] | undefined
}

/** Returns the command that takes a container back to a snapshot or backup. */
export function rollbackCommand(place: Place, { kind, location, archived, agreed = [] }: Stored): Prepared {
  const { root = null, unprivileged = false, volumes = [] } = archived ?? {}
  const known = [...volumes, ...agreed]
  return task('rollback', place, { policy: [kind, location ?? '-', root ?? '-', unprivileged ? '1' : '0', ...known] })
}

/** Returns the command that removes a snapshot or backup. */
export function forgetCommand(place: Place, { kind, location }: Stored): Prepared {
  return task('forget', place, { policy: [kind, location ?? '-'] })
}

function task(
  name: 'upgrade' | 'application' | 'rollback' | 'forget',
  { id, name: snapshot, elevation, hasApi = false }: Place,
  { policy, look = [], command = [] }: { policy: string[]; look?: string[]; command?: readonly string[] },
): Prepared {
  const ofRule = hasApi ? 'api' : 'rule'
  const access = elevation === 'helper' ? elevation : elevation === 'rule' ? ofRule : 'root'
  const lists = [String(policy.length), ...policy, String(look.length), ...look]
  return { command: ['perl', name, access, id, snapshot, ...lists, ...command], program: PROTECTED }
}

/** The state of a container after an interrupted run. */
export interface ContainerState extends Found {
  id: string
  status: string
  lock: string | null
  /** Whether a step of the hypervisor works on its snapshots; undefined where the account may not see that. */
  busy: boolean | undefined
  frozen: boolean
}

/** Asks the host for the state of a container and of one of its snapshots. */
export async function readState(host: Host, place: Place): Promise<ContainerState> {
  const { id, name, elevation } = place
  const { stdout } =
    elevation === 'helper'
      ? await host.exec(['pct'], { rights: 'command', verb: ['state', id, name] })
      : await host.exec(script(STATE, 'ops-panel-state', sudoFor(elevation), id, name), { rights: 'script' })
  const seen = stdout.split('\n')
  // An account that may not read the configuration of a container sees no snapshot in it.
  const told = seen.some((line) => /^snapshot (whole|incomplete)$/.test(line)) ? undefined : await place.apiState?.()
  const words = new Map([...seen, ...(told ?? [])].map((line) => [line.split(' ')[0], line.split(' ')[1] ?? '']))
  const [snapshot, busy] = [words.get('snapshot'), words.get('busy')]
  return {
    id,
    status: words.get('status') ?? 'unknown',
    lock: words.get('lock') ?? null,
    busy: busy === 'unknown' ? undefined : busy !== undefined,
    frozen: words.get('frozen') === 'yes',
    snapshot: snapshot === 'whole' || snapshot === 'incomplete' || snapshot === 'none' ? snapshot : 'unknown',
  }
}

/** Returns a container whose job has ended before its time, with the account's rights. */
export async function leftPlace(
  host: Host,
  { id, name }: Pick<Place, 'id' | 'name'>,
  { settings, signal }: LeftBy<HypervisorSettings>,
): Promise<Place> {
  const elevation = await elevationOf(host)
  if (elevation !== 'rule') return { id, name, elevation }
  return { id, name, elevation, apiState: () => stateByApi(name, { id, host, settings, signal }) }
}

/** How long the end of a step is waited for: a snapshot takes seconds, and a rollback may take minutes. */
const STEP_MS = 120_000
const AGAIN_MS = 1_000

/**
 * Asks for the state like `readState` until no step of the hypervisor is at work, but not for ever: a step goes to its
 * end although its job has ended. Rejects when `signal` aborts.
 */
export async function restingState(host: Host, place: Place, signal: AbortSignal): Promise<ContainerState> {
  for (const until = performance.now() + STEP_MS; ; ) {
    const state = await readState(host, place)
    if (state.busy !== true || performance.now() > until) return state
    await pause(AGAIN_MS, undefined, { signal })
  }
}

/** Says in French what an interrupted run has left. */
export function stateLines(state: ContainerState, name: string): string[] {
  const { snapshot, busy } = state
  if (busy && snapshot === 'incomplete')
    return [...containerLines(state), `L’instantané ${name} n’est pas encore complet.`]
  return [
    ...containerLines(state),
    {
      whole: `L’instantané ${name} est là : vous pouvez revenir en arrière.`,
      incomplete: `L’instantané ${name} est incomplet : il ne permet pas de revenir en arrière, et peut être supprimé.`,
      none: 'Il n’y a pas d’instantané de cette mise à jour.',
      unknown: 'L’état du conteneur et de son instantané n’a pas pu être lu.',
    }[snapshot],
  ]
}

/** The locks of steps on snapshots. A rollback and the removal of a snapshot take such a lock away first. */
const OF_STEPS = new Set(['snapshot', 'snapshot-delete', 'rollback'])

/** Says in French what an interrupted run has left of the container itself. */
export function containerLines(state: ContainerState): string[] {
  const { id, status, lock, busy, frozen } = state
  return [
    ...(status === 'stopped' ? ['Le conteneur est arrêté.'] : []),
    ...(frozen && busy !== true
      ? [
          `Le conteneur est gelé : rien n’y répond. Sur l’hôte, « lxc-freeze -n ${id}; lxc-unfreeze -n ${id} » le dégèle.`,
        ]
      : []),
    ...(lock === null ? [] : [lockLine(state, lock)]),
  ]
}

function lockLine({ id, busy, snapshot }: ContainerState, lock: string): string {
  if (busy) return `Le conteneur est verrouillé (${lock}) : une étape de l’hyperviseur y travaille encore.`
  if (!OF_STEPS.has(lock) || busy === undefined)
    return `Le conteneur est verrouillé (${lock}) : une étape de l’hyperviseur a été interrompue, ou travaille encore.`
  if (snapshot === 'whole')
    return `Le conteneur est verrouillé (${lock}) : une étape de l’hyperviseur a été interrompue ; un retour en arrière ou la suppression de l’instantané le libère.`
  if (snapshot === 'incomplete')
    return `Le conteneur est verrouillé (${lock}) : une étape de l’hyperviseur a été interrompue ; la suppression de l’instantané le libère.`
  return `Le conteneur est verrouillé (${lock}) : une étape de l’hyperviseur a été interrompue ; « pct unlock ${id} » sur l’hôte le libère.`
}
