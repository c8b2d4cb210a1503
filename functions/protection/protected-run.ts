import { type Command, type Elevation, type Host, script } from '../../ssh/ssh.ts'
import { sudoFor } from '../updates/apt.ts'
import { fail } from '../services.ts'
import { HEALTH, probeWords } from './health-script.ts'
import { PROTECTED } from './protected-script.ts'
import { ROOM, STATE } from './protection-steps.ts'
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
}

/**
 * Returns the command that protects the upgrade `command` of a container. Throws `probe_unavailable` where the account
 * cannot run a probe of the policy: an upgrade that is not looked at as asked would be a false promise.
 */
export function protectedCommand(place: Place, protection: Protection, command: Command): Command {
  const { before, backup_storage, keep, on_failure, settle_seconds, probes } = protection
  if (place.elevation === 'helper' && probes.some(({ kind }) => kind === 'command')) throw fail('probe_unavailable')
  const asks = probes.some(({ kind }) => kind === 'http') ? '1' : '0'
  const policy = [before, backup_storage ?? '-', String(keep), on_failure, String(settle_seconds), asks]
  return task('upgrade', place, { policy, look: probeWords(probes), command })
}

/** The snapshot or backup that somebody wants to go back to, or to remove. */
export interface Stored {
  kind: 'snapshot' | 'backup'
  location: string | null
}

/** Returns the command that takes a container back to a snapshot or backup. */
export function rollbackCommand(place: Place, { kind, location }: Stored): Command {
  return task('rollback', place, { policy: [kind, location ?? '-'] })
}

/** Returns the command that removes a snapshot or backup. */
export function forgetCommand(place: Place, { kind, location }: Stored): Command {
  return task('forget', place, { policy: [kind, location ?? '-'] })
}

function task(
  name: 'upgrade' | 'rollback' | 'forget',
  { id, name: snapshot, elevation }: Place,
  { policy, look = [], command = [] }: { policy: string[]; look?: string[]; command?: readonly string[] },
): Command {
  const access = elevation === 'rule' || elevation === 'helper' ? elevation : 'root'
  // The host helper has its own texts.
  const texts = elevation === 'helper' ? ['', '', ''] : [HEALTH, ROOM, STATE]
  const words = [...texts, ...look]
  const lists = [String(policy.length), ...policy, String(words.length), ...words]
  return ['perl', '-e', PROTECTED, name, access, id, snapshot, ...lists, ...command]
}

/** The state of a container after an interrupted run. */
export interface ContainerState extends Found {
  status: string
  lock: string | null
}

/** Asks the host for the state of a container and of one of its snapshots. */
export async function readState(host: Host, { id, name, elevation }: Place): Promise<ContainerState> {
  const { stdout } =
    elevation === 'helper'
      ? await host.exec(['pct'], { rights: 'command', verb: ['state', id, name] })
      : await host.exec(script(STATE, 'ops-panel-state', sudoFor(elevation), id, name), { rights: 'script' })
  const words = new Map(stdout.split('\n').map((line) => [line.split(' ')[0], line.split(' ')[1] ?? '']))
  const snapshot = words.get('snapshot')
  return {
    status: words.get('status') ?? 'unknown',
    lock: words.get('lock') ?? null,
    snapshot: snapshot === 'whole' || snapshot === 'incomplete' || snapshot === 'none' ? snapshot : 'unknown',
  }
}

/** Says in French what an interrupted run has left. */
export function stateLines({ status, lock, snapshot }: ContainerState, name: string): string[] {
  return [
    ...(status === 'stopped' ? ['Le conteneur est arrêté.'] : []),
    ...(lock === null
      ? []
      : [`Le conteneur est verrouillé (${lock}) : une étape de l’hyperviseur a été interrompue, ou travaille encore.`]),
    {
      whole: `L’instantané ${name} est là : vous pouvez revenir en arrière.`,
      incomplete: `L’instantané ${name} est incomplet : il ne permet pas de revenir en arrière, et peut être supprimé.`,
      none: 'Il n’y a pas d’instantané de cette mise à jour.',
      unknown: 'L’état du conteneur et de son instantané n’a pas pu être lu.',
    }[snapshot],
  ]
}
