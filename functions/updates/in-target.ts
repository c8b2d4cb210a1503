import { type Command, type Elevation, helped, script } from '../../ssh/ssh.ts'
import { inContainer } from '../hypervisor/pct.ts'
import type { Target } from '../hypervisor/target.ts'
import { sudoFor } from './apt.ts'

/**
 * Returns the command of a job that runs a script `<sudo> <argument>…` in its target, or the helper's verb that stands for
 * it.
 */
export function inTarget(
  target: Exclude<Target, { kind: 'all' }>,
  { verb, text }: { verb: string; text: string },
  args: readonly string[],
  elevation: Elevation,
): Command {
  const name = `ops-panel-${verb}`
  const place = target.kind === 'host' ? 'host' : target.id
  if (elevation === 'helper') return helped([verb, place, ...args])
  if (target.kind === 'host') return script(text, name, sudoFor(elevation), ...args)
  return asRoot(inContainer(target.id, script(text, name, '', ...args)), elevation)
}

/** Puts sudo before a command where the job runs as the account; the container tool then is what the rule names. */
export function asRoot(command: Command, elevation: Elevation): Command {
  return elevation === 'rule' ? ['sudo', '-n', ...command] : command
}
