import { canRestartAll, isBeingRenewed, type Outdated, outdatedIn } from '../nouns/restarts.ts'
import type { Check } from '../nouns/checked.ts'
import { go } from '../router.ts'
import { checks } from '../wire/checks.ts'
import { containersAway } from '../wire/containers.ts'
import { hostAway } from '../wire/host.ts'
import { type Job, jobOn, running } from '../wire/jobs.ts'
import { isAdmin } from '../wire/panel.ts'
import { startRestart } from '../wire/remedies.ts'
import { act, asked, isUnderWay } from '../wire/tasks.ts'
import { words } from '../words/words.ts'
import { confirmAction } from './container-actions.tsx'
import { confirm } from './dialog.tsx'
import { targetName } from './target-name.ts'

/** More names would fill the dialog; the page behind it has all of them. */
const NAMED = 8

/** The name of a target inside a sentence. */
export function targetInSentence({ target, name }: Pick<Check, 'target' | 'name'>): string {
  return target === 'host' ? words().dashboard.theHost : name || targetName(target)
}

/** A few words about the job that changes a target. */
export function runningSaid({ kind, target }: Job): string {
  const { updates: say, job } = words()
  if (kind === 'remedy') return say.repairing
  if (kind === 'rollback') return say.rollingBack
  if (kind === 'snapshot') return say.removingSnapshot
  if (kind === 'restart' || kind === 'reboot' || kind === 'application') return job.titles[kind]
  return target === 'all' ? say.runningWithAll : say.running
}

/** The reason why no service of a target can be restarted now; undefined when one can. */
export function restartBlocked(check: Check): string | undefined {
  const { updates: say } = words()
  if (hostAway.value) return say.awayBlocks
  const job = jobOn(check.target) ?? running.value.find(({ kind }) => kind === 'reboot')
  if (job) return runningSaid(job)
  return isBeingRenewed(check) ? say.checking : undefined
}

/** The reason why a container cannot be restarted as a whole now; undefined when it can. */
export function containerBlocked({ target }: Check): string | undefined {
  const { updates: say, containers } = words()
  if (containersAway.value) return say.awayBlocks
  const job = jobOn(target)
  if (job) return runningSaid(job)
  const task = asked.value.get(vmidOf(target))
  return task && isUnderWay(task) ? containers.underWay[task.action] : undefined
}

/** Whether the user can restart here all that is outdated on a target. */
export function mayRestartAll(check: Check): boolean {
  return isAdmin.value && canRestartAll(check)
}

/** Says what a restart of these services interrupts, and starts it; returns the id of its job, or undefined when the user declines. */
export async function restartServices(check: Check, services: readonly Outdated[]): Promise<string | undefined> {
  const { restarts: say } = words()
  const names = services.map(({ name }) => name)
  const [first = ''] = names
  const what = names.length === 1 ? first : say.services(names.length)
  const title = say.question(what, targetInSentence(check))
  if (!(await confirm({ title, text: <Consequence check={check} services={services} />, verb: say.restart })))
    return undefined
  return startRestart({ target: check.target, services: names })
}

function Consequence({ check, services }: { check: Check; services: readonly Outdated[] }) {
  const { restarts: say } = words()
  const chosen = new Set(services.map(({ name }) => name))
  // Another check may have ended while the question is open.
  const newest = checks.value?.find(({ target }) => target === check.target) ?? check
  const others = outdatedIn(newest).filter(({ name, restart }) => restart !== 'service' || !chosen.has(name))
  const sessions = others.filter(({ restart }) => restart === 'session')
  const staying = [
    ...others.filter((one) => !sessions.includes(one)).map(({ name }) => name),
    ...sessions.map(({ name }) => say.theSessionOf(name)),
  ]
  const cuts = services.some(({ interrupts }) => interrupts !== null)
  const listed = (names: readonly string[]) => say.names(names.slice(0, NAMED), Math.max(0, names.length - NAMED))
  return (
    <>
      {(services.length > 1 || cuts) && (
        <ul class="restarting">
          {services.map(({ name, interrupts }) => (
            <li key={name}>
              <b>{name}</b>
              {interrupts !== null && <span class="warn-text"> {say.cuts[interrupts]}</span>}
            </li>
          ))}
        </ul>
      )}
      <p>{say.consequence(services.length)}</p>
      {cuts && <p>{say.comesBack}</p>}
      <p>
        {say.others(services.length)}
        {staying.length > 0 && ` ${say.stay(listed(staying))}`}
      </p>
    </>
  )
}

/** Restarts a container as a whole after its question; the page of the containers shows the progress. */
export async function restartContainer({ target, name }: Pick<Check, 'target' | 'name'>): Promise<void> {
  const vmid = vmidOf(target)
  if (!(await confirmAction({ vmid, name: name || targetName(target) }, 'reboot'))) return
  // Another action may have started while the question was open.
  const current = asked.value.get(vmid)
  if (!current || !isUnderWay(current)) void act(vmid, 'reboot')
  go('/containers')
}

function vmidOf(target: string): number {
  return Number(target.slice('lxc:'.length))
}
