import { type Command, type Elevation, helped, script } from '../../ssh/ssh.ts'
import { inContainer } from '../hypervisor/pct.ts'
import { RUN_CODES } from '../managers/agreement.ts'
import { isManaged, managerText } from '../managers/managed-scripts.ts'
import { FIND_MANAGER, type ManagerName } from '../managers/manager.ts'
import { sudoFor } from '../updates/apt.ts'
import { filesWord } from './conffile-scripts.ts'
import { PLAN, PLAN_BEGINS, PLANNED } from './plan-script.ts'

/** Which of the available changes a plan takes. `packages` null: all of them. */
export interface Selection {
  only: 'all' | 'security'
  packages: readonly string[] | null
  exclude: readonly string[]
  allow_remove: boolean
  /** The package manager of the target; apt unless told. */
  manager?: ManagerName
}

/**
 * As `PLAN` and `PLANNED`, of a manager other than apt, whose functions come before: a command over SSH has no room for
 * those of all of them. Where the target has another manager, the plan tells that alone, and the run changes nothing.
 */
export const MANAGED_PLAN = `
${PLAN_BEGINS}
command -v "\${manager}_changes" >/dev/null 2>&1 || exit 0
sudo=
managed_plan "$@"
echo end
`
export const MANAGED_PLANNED = `
sudo=$1 hash=$2
shift 3
${FIND_MANAGER.trim()}
if ! command -v "\${manager}_run" >/dev/null 2>&1; then
  echo "ops-panel-plan: this plan was made for another package manager than $manager."
  exit ${RUN_CODES.notBegun}
fi
managed_run "$hash" "$@"
`

/** The words of a selection, as the scripts and the host helper take them. */
export function selectionWords({ only, packages, exclude, allow_remove }: Selection): string[] {
  const names = packages ? packages.filter((name) => !exclude.includes(name)) : exclude
  const kind = packages ? 'these' : exclude.length > 0 ? 'without' : 'every'
  return [only, allow_remove ? 'remove' : 'keep', kind, ...names]
}

/** Returns the command that simulates a selection on the host (`host`) or in a container. */
export function planCommand(place: string, selection: Selection, elevation: Elevation): Command {
  const words = selectionWords(selection)
  if (elevation === 'helper') return helped(['plan', place, ...words])
  const own = script(planText(selection.manager), 'ops-panel-plan', ...words)
  return place === 'host' ? own : rooted(inContainer(place, own), elevation)
}

/** A program that plans with apt, or with the only manager whose functions it has. */
function planText(manager: ManagerName = 'apt'): string {
  return isManaged(manager) ? `${managerText(manager)}${MANAGED_PLAN}` : PLAN
}

/** A plan as its run takes it: `take` are the changed configuration files that the new versions replace. */
export interface PlannedRun {
  hash: string
  take: readonly string[]
  selection: Selection
}

/** Returns the command that runs a plan on the host (`host`) or in a container. */
export function plannedCommand(place: string, { hash, take, selection }: PlannedRun, elevation: Elevation): Command {
  const words = [hash, filesWord(take), ...selectionWords(selection)]
  if (elevation === 'helper') return helped(['planned', place, ...words])
  const { manager = 'apt' } = selection
  const text = isManaged(manager) ? `${managerText(manager)}${MANAGED_PLANNED}` : PLANNED
  if (place === 'host') return script(text, 'ops-panel-planned', sudoFor(elevation), ...words)
  return rooted(inContainer(place, script(text, 'ops-panel-planned', '', ...words)), elevation)
}

function rooted(command: Command, elevation: Elevation): Command {
  return elevation === 'rule' ? ['sudo', '-n', ...command] : command
}
