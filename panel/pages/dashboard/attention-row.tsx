import type { ComponentChildren } from 'preact'
import type { Attention } from '../../nouns/attention.ts'
import type { Finding } from '../../nouns/checked.ts'
import { percent } from '../../nouns/format.ts'
import { type Interrupted, interruptedIn } from '../../nouns/impact.ts'
import { restartable } from '../../nouns/restarts.ts'
import { firstFinding } from '../../nouns/target-list.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { reviewPlan } from '../../parts/plan/open.ts'
import { Problem } from '../../parts/problem.tsx'
import { mayRemedy, RemedyButton, useRemedies } from '../../parts/remedy.tsx'
import { mayRestartAll, restartBlocked, restartServices } from '../../parts/restarts.tsx'
import { Status } from '../../parts/status.tsx'
import { targetName } from '../../parts/target-name.ts'
import { Ago } from '../../parts/time.tsx'
import { go } from '../../router.ts'
import { checks, startCheck } from '../../wire/checks.ts'
import { hostAway } from '../../wire/host.ts'
import { isAdmin, isOperator, mayOperate } from '../../wire/panel.ts'
import { startRemedy } from '../../wire/remedies.ts'
import { act } from '../../wire/tasks.ts'
import { language, words } from '../../words/words.ts'
import { RebootDeed, RebootSentence } from './reboot-entry.tsx'

/** A problem: a sentence and an action. */
export function AttentionRow({ item }: { item: Attention }) {
  const { sentence, action } = shownAs(item)
  return (
    <li>
      <Status is={item.level} hidden />
      <span class="grow">{sentence}</span>
      {action}
    </li>
  )
}

function shownAs(item: Attention): { sentence: ComponentChildren; action: ComponentChildren } {
  const say = words().dashboard
  switch (item.kind) {
    case 'hostKey':
      return {
        sentence: isAdmin.value ? say.hostKey : say.hostKeyTell,
        action: isAdmin.value && <To href="/settings">{say.compareKey}</To>,
      }
    case 'dpkg':
      return { sentence: say.dpkg, action: reviewOf('host', say.repair) }
    case 'unfinished':
    case 'dependencies':
      return {
        sentence: say[item.kind](targetName(item.target)),
        action: item.repairable ? repairOf(item.target) : <See />,
      }
    case 'readOnly':
      return { sentence: say.readOnly(namesOf([item.target])), action: terminalOf(item.target) }
    case 'blocked':
    case 'exploited':
    case 'endOfLife':
    case 'conffiles':
      return { sentence: say[item.kind](namesOf(item.targets)), action: <See /> }
    case 'services':
      return { sentence: say.services(namesOf(item.targets)), action: <Services targets={item.targets} /> }
    case 'lists':
      return {
        sentence: say.lists[item.code](namesOf(item.targets)),
        action: item.retry ? <Recheck targets={item.targets} /> : <Remedy targets={item.targets} code={item.code} />,
      }
    case 'locked':
    case 'unchecked':
      return { sentence: say[item.kind](namesOf(item.targets)), action: <Recheck targets={item.targets} /> }
    case 'other': {
      const away = cutBy(item.target)
      if (away)
        return {
          sentence: say.cuts[away](ofTarget(item.target)),
          action: reviewOf(item.target),
        }
      return { sentence: say.other(targetName(item.target), reasonOf(item.target)), action: <See /> }
    }
    case 'job': {
      const sentence = (
        <>
          {say.ended[item.outcome](ofTarget(item.target))}, <Ago at={item.at} />
        </>
      )
      const { decide, why } = words().updates.action
      const verb = item.outcome === 'broken' ? decide : item.outcome === 'back' ? why : say.see
      return { sentence, action: <To href={`/updates/${item.job}`}>{verb}</To> }
    }
    case 'disk': {
      const name = namesOf([item.target])
      return {
        sentence: item.used === undefined ? say.space(name) : say.disk(name, percent(item.used, language())),
        action: <Remedy targets={[item.target]} code="disk_low" otherwise={terminalOf(item.target)} />,
      }
    }
    case 'module':
      return { sentence: say.module(item.name), action: <To href="/modules">{say.see}</To> }
    case 'stopped': {
      const sentence = (
        <>
          {say.stopped(item.name)}, <Ago at={item.at} />
        </>
      )
      return {
        sentence,
        action: mayOperate(`lxc:${item.vmid}`) ? <Start vmid={item.vmid} /> : <To href="/containers">{say.see}</To>,
      }
    }
    case 'reboot':
      return item.targets[0] === 'host'
        ? { sentence: <RebootSentence />, action: <RebootDeed /> }
        : { sentence: say.rebootOf(namesOf(item.targets)), action: <See /> }
    case 'rebooted': {
      const { reboot, errors } = words()
      const why = Object.entries(errors).find(([code]) => code === item.code)?.[1]
      const sentence = (
        <>
          {why ?? reboot.failed} <Ago at={item.at} />
        </>
      )
      return { sentence, action: <To href={`/updates/${item.job}`}>{say.see}</To> }
    }
    case 'notBack': {
      const [only, ...others] = item.targets.map((target) => Number(target.slice('lxc:'.length)))
      const isStart = others.length === 0 && only !== undefined && mayOperate(`lxc:${only}`)
      return {
        sentence: <span class="gone">{words().reboot.gone(namesOf(item.targets))}</span>,
        action: isStart ? <Start vmid={only} /> : <To href={`/updates/${item.job}`}>{say.see}</To>,
      }
    }
    case 'newer':
      return {
        sentence: words().findings.sentence(item.finding),
        action: reviewOf(item.target),
      }
    case 'packages': {
      const { updates, targets, security, upgradable } = item
      const all = say.packages(say.packageCount(updates), say.targetCount(targets), security)
      return {
        sentence: upgradable === targets ? all : all + say.installable(upgradable),
        action: <To href="/updates">{hostAway.value || !isOperator.value ? say.see : say.update}</To>,
      }
    }
  }
}

function ofTarget(target: string): string {
  const say = words().dashboard.ofTarget
  return target === 'host' || target === 'all' ? say[target] : say.container(targetName(target))
}

/** The part of the panel's way that an upgrade of a target cuts for a moment, if that is the first thing to say about it. */
function cutBy(target: string): Interrupted | undefined {
  const finding = findingOf(target)
  return finding?.code === 'self_impact' ? interruptedIn([finding]) : undefined
}

function findingOf(target: string): Finding | undefined {
  return checks.value?.filter((check) => check.target === target).map(firstFinding)[0]
}

/** A few words about the first finding of a target. */
function reasonOf(target: string): string {
  const finding = findingOf(target)
  const { findings, updates } = words()
  return finding ? findings.short[finding.code](finding.packages.length, null) : updates.words.attention
}

/** Restarts the services of one target where that renews all of them; otherwise the way to the targets, opened. */
function Services({ targets }: { targets: readonly string[] }) {
  const check = targets.length === 1 ? checks.value?.find(({ target }) => target === targets[0]) : undefined
  if (!check || !mayRestartAll(check)) return <To href={`/updates?open=${targets.join()}`}>{words().dashboard.see}</To>
  return (
    <Starts
      verb={words().restarts.restart}
      blocked={restartBlocked(check)}
      start={() => restartServices(check, restartable(check))}
    />
  )
}

interface RemedyProps {
  targets: readonly string[]
  code: Finding['code']
  /** The action where no remedy can start here. */
  otherwise?: ComponentChildren
}

/** The remedy of a finding where it is about one target; otherwise the way to the targets. */
function Remedy({ targets, code, otherwise = <See /> }: RemedyProps) {
  const remedies = useRemedies((job) => go(`/updates/${job}`))
  const check = targets.length === 1 ? checks.value?.find(({ target }) => target === targets[0]) : undefined
  const finding = check?.findings.find((each) => each.code === code)
  if (!check || !finding || !mayRemedy(finding, check.target)) return otherwise
  return (
    <>
      <RemedyButton check={check} finding={finding} by={remedies} />
      <Problem error={remedies.error} />
    </>
  )
}

function To({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a class="button small" href={href}>
      {children}
    </a>
  )
}

function See() {
  return <To href="/updates">{words().dashboard.see}</To>
}

function terminalOf(target: string): ComponentChildren {
  return isAdmin.value && <To href={`/terminal?target=${target}`}>{words().dashboard.openTerminal}</To>
}

/** More names would push the sentence over its line. */
const NAMED = 3

function namesOf(targets: readonly string[]): string {
  const say = words().dashboard
  const names = targets.slice(0, NAMED).map((target) => (target === 'host' ? say.theHost : targetName(target)))
  return say.names(names, targets.length - names.length)
}

/** Checks the target again, or all of them if there are several, for those who work on them. */
function Recheck({ targets }: { targets: readonly string[] }) {
  const target = targets.length === 1 && targets[0] ? targets[0] : 'all'
  const check = useAct(() => startCheck(target))
  if (!mayOperate(target)) return <See />
  return (
    <>
      <Action act={check} class="small" blocked={hostAway.value ? words().updates.awayBlocks : undefined}>
        {words().dashboard.checkAgain}
      </Action>
      <Problem error={check.error.value} />
    </>
  )
}

/** Shows the plan of an upgrade; who does not work on the target gets a link. */
function reviewOf(target: string, verb: string = words().updates.action.review): ComponentChildren {
  return mayOperate(target) ? <Starts verb={verb} start={() => reviewPlan(target)} /> : <See />
}

/** Starts the container on the page that shows its log. */
function Start({ vmid }: { vmid: number }) {
  const start = () => {
    void act(vmid, 'start')
    go('/containers')
  }
  return (
    <button type="button" class="button small" onClick={start}>
      {words().dashboard.start}
    </button>
  )
}

/** Administrators can start the repair here; other users get a link to the target. */
function repairOf(target: string): ComponentChildren {
  const say = words().dashboard
  if (!isAdmin.value) return <See />
  return <Starts verb={say.repair} start={() => startRemedy({ target, action: 'repair_dpkg' })} />
}

interface StartsProps {
  verb: string
  /** The reason why it cannot start now, besides a host that is away. */
  blocked?: string | undefined
  start(): Promise<string | undefined>
}

/** Starts a job and shows it; does nothing when the user declines. */
function Starts({ verb, blocked, start: starts }: StartsProps) {
  const start = useAct(async () => {
    const id = await starts()
    if (id !== undefined) go(`/updates/${id}`)
  })
  return (
    <>
      <Action act={start} class="small" blocked={hostAway.value ? words().updates.awayBlocks : blocked}>
        {verb}
      </Action>
      <Problem error={start.error.value} />
    </>
  )
}
