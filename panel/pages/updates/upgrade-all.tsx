import {
  type Check,
  canBeUpgraded,
  notUpgradable,
  shownOf,
  type Upgradable,
  updatesIn,
  upgradeAll,
} from '../../nouns/checked.ts'
import { confirm } from '../../parts/dialog.tsx'
import { targetName } from '../../parts/target-name.ts'
import { running, startUpgrade } from '../../wire/jobs.ts'
import { words } from '../../words/words.ts'

/** The jobs of an upgrade of everything, and the targets that they touch. */
export function planOfAll(known: readonly Check[]) {
  return upgradeAll(upgradableIn(known))
}

/** Names every target that an upgrade of everything touches, and starts it once that is confirmed; returns the first job. */
export async function startAll(known: readonly Check[]): Promise<string | undefined> {
  const say = words().updates
  const { jobs, touched } = planOfAll(known)
  const vain = jobs.includes('all') ? notUpgradable(known) : []
  const removing = new Set(
    known.flatMap(({ target, findings }) => (findings.some(({ code }) => code === 'kept_back_remove') ? [target] : [])),
  )
  const text = (
    <>
      <p>{say.upgradeAllText}</p>
      <ul class="touched">
        {touched.map(({ id, name, packages }) => (
          <li key={id}>
            {name}
            {packages !== undefined && (
              <span class="dim"> · {packages === 0 ? say.upToDate : say.packages(packages)}</span>
            )}
            {removing.has(id) && <span class="err-text"> · {say.removesSome}</span>}
          </li>
        ))}
      </ul>
      {vain.length > 0 && <p class="dim">{say.alsoTried(vain.join(', '))}</p>}
    </>
  )
  if (!(await confirm({ title: say.upgradeAllTitle, text, verb: say.upgradeAll }))) return undefined
  let first: string | undefined
  for (const id of jobs) {
    const started = await startUpgrade(id)
    first ??= started
  }
  return first
}

/** The targets that can be upgraded and are not being upgraded, with the known number of updates. */
function upgradableIn(found: readonly Check[]): Upgradable[] {
  const busy = new Set(running.value.flatMap(({ kind, target }) => (kind === undefined ? [target] : [])))
  const isFree = ({ target }: Check) => !busy.has(target) && !(busy.has('all') && target !== 'host')
  return found
    .filter((check) => canBeUpgraded(check) && isFree(check))
    .map((check) => ({
      id: check.target,
      name: check.target === 'host' ? targetName('host') : check.name,
      packages: updatesIn(check) || (shownOf(check).word === 'upToDate' ? 0 : undefined),
    }))
}
