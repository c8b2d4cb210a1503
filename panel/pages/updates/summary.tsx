import { applicationsIn } from '../../nouns/application.ts'
import type { Check } from '../../nouns/checked.ts'
import { needsIn } from '../../nouns/needs.ts'
import { totalsOf } from '../../nouns/target-list.ts'
import { applicationWords } from '../../parts/applications/words.ts'
import { Ago } from '../../parts/time.tsx'
import { checks, checkUnderWay, isAutomatic, isChecking, needing, vulnerabilities } from '../../wire/checks.ts'
import { running } from '../../wire/jobs.ts'
import { isTheirs } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'

/** The heading: how many of the user's targets can be upgraded, or else need somebody. All is up to date only where the service says so of each. */
export function titleOf(known: readonly Check[] | undefined): string {
  const say = words().updates
  if (!known || known.every(({ checked_at }) => checked_at === null)) return say.title
  const own = known.filter(({ target }) => isTheirs(target))
  const ready = totalsOf(own).upgradable
  if (ready > 0) return say.canUpgrade(ready)
  const need = needsIn(own).count
  if (need > 0) return say.needAttention(need)
  const there = known.filter(({ state }) => state !== 'stopped' && state !== 'unsupported')
  return there.length > 0 && there.every(({ state }) => state === 'up_to_date') ? say.allUpToDate : say.nothingToDo
}

/** The number of updates, security updates, the targets that need somebody, as the menu counts them, the age of the package lists and of the data about vulnerabilities, and whether checks start by themselves. */
export function Summary() {
  const known = (checks.value ?? []).filter(({ target }) => isTheirs(target))
  const need = totalsOf(known).upgradable > 0 ? needing.value.count : 0
  const inApplications = applicationsIn(known)
  return (
    <>
      {isChecking.value && <Checking />}
      {known.some(({ checked_at }) => checked_at !== null) && (
        <>
          <span>{waitingSaid(known)}</span> {inApplications > 0 && `${applicationWords().toReview(inApplications)} `}
          {need > 0 && <span>{words().updates.needAttention(need)}. </span>}
          <Lists known={known} /> <Data />{' '}
        </>
      )}
      {!isAutomatic.value && <span class="dim">{words().updates.notAutomatic}</span>}
    </>
  )
}

/** Links to the running check, which everybody may watch. */
function Checking() {
  const say = words().updates
  const job = running.value.find(({ kind }) => kind === 'check')?.job_id ?? checkUnderWay.value
  return (
    <>
      <span role="status">{say.checking}</span>{' '}
      {job !== undefined && (
        <>
          <a href={`/updates/${job}`}>{say.seeCheck}</a>{' '}
        </>
      )}
    </>
  )
}

function waitingSaid(known: readonly Check[]): string {
  const say = words().updates
  const { updates, targets, security, exploited, unknown, upgradable, ready, barred } = totalsOf(known)
  const parts = [
    ...(ready > 0 ? [say.readyCount(ready)] : []),
    ...(upgradable > ready ? [say.warnedCount(upgradable - ready)] : []),
    ...(barred > 0 ? [say.barredCount(barred)] : []),
  ]
  // One part is all of them, and the heading says it.
  const all = updates > 0 ? `${say.totals(updates, targets, parts.length > 1 ? parts.join(', ') : '')} ` : ''
  return all + say.securitySum(security, exploited, unknown)
}

/** The age of the oldest lists that are fresh, and the number of targets whose lists are not. */
function Lists({ known }: { known: readonly Check[] }) {
  const say = words().updates
  const asked = known.filter(({ state, manager }) => state !== 'stopped' && state !== 'unsupported' && manager !== null)
  const isOld = ({ lists_at, state, findings }: Check) =>
    lists_at === null || state === 'unknown' || findings.some(({ code }) => /^(lists_stale|repository_)/.test(code))
  const old = asked.filter(isOld).length
  const ages = asked.flatMap((check) => (isOld(check) || check.lists_at === null ? [] : [Date.parse(check.lists_at)]))
  if (asked.length === 0) return null
  return ages.length === 0 ? (
    <span>{say.noLists}</span>
  ) : (
    <Ago at={Math.min(...ages)} say={(ago) => say.listsAge(ago, old)} />
  )
}

function Data() {
  const say = words().updates
  const data = vulnerabilities.value
  if (!data) return null
  const { cve } = data
  if (!cve) return <span>{say.noCves}</span>
  return cve.at === null ? <span>{say.cvesMissing}</span> : <Ago at={cve.at} say={say.cvesAge} />
}
