import type { ComponentChildren } from 'preact'
import type { Attention } from '../../nouns/attention.ts'
import { percent } from '../../nouns/format.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { targetName } from '../../parts/target-name.ts'
import { Ago } from '../../parts/time.tsx'
import { confirmUpgrade } from '../../parts/upgrade-question.ts'
import { go } from '../../router.ts'
import { startCheck } from '../../wire/checks.ts'
import { hostAway } from '../../wire/host.ts'
import { startUpgrade } from '../../wire/jobs.ts'
import { isAdmin } from '../../wire/panel.ts'
import { startRemedy } from '../../wire/remedies.ts'
import { act } from '../../wire/tasks.ts'
import { language, words } from '../../words/words.ts'

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
      return { sentence: say.dpkg, action: <Starts verb={say.repair} start={upgradeHost} /> }
    case 'unfinished':
      return {
        sentence: say.unfinished(targetName(item.target)),
        action: item.repairable ? repairOf(item.target) : <See />,
      }
    case 'dependencies':
      return {
        sentence: say.dependencies(targetName(item.target)),
        action: item.repairable && repairOf(item.target),
      }
    case 'readOnly':
      return { sentence: say.readOnly(namesOf([item.target])), action: terminalOf(item.target) }
    case 'blocked':
      return { sentence: say.blocked(namesOf(item.targets)), action: <See /> }
    case 'exploited':
      return { sentence: say.exploited(namesOf(item.targets)), action: <See /> }
    case 'lists':
      return {
        sentence: say.lists(namesOf(item.targets)),
        action: item.retry ? <Recheck targets={item.targets} /> : <See />,
      }
    case 'locked':
      return { sentence: say.locked(namesOf(item.targets)), action: <Recheck targets={item.targets} /> }
    case 'endOfLife':
      return { sentence: say.endOfLife(namesOf(item.targets)), action: <See /> }
    case 'conffiles':
      return { sentence: say.conffiles(namesOf(item.targets)), action: <See /> }
    case 'services':
      return { sentence: say.services(namesOf(item.targets)), action: <See /> }
    case 'space':
      return { sentence: say.space(namesOf([item.target])), action: <See /> }
    case 'job': {
      const of =
        item.target === 'host' || item.target === 'all'
          ? say.ofTarget[item.target]
          : say.ofTarget.container(targetName(item.target))
      const sentence = (
        <>
          {say.ended[item.outcome](of)}, <Ago at={item.at} />
        </>
      )
      return { sentence, action: <To href={`/updates/${item.job}`}>{say.see}</To> }
    }
    case 'disk':
      return {
        sentence: say.disk(item.name ?? say.theHost, percent(item.used, language())),
        action: terminalOf(item.vmid ? `lxc:${item.vmid}` : 'host'),
      }
    case 'module':
      return { sentence: say.module(item.name), action: <To href="/modules">{say.see}</To> }
    case 'stopped': {
      const sentence = (
        <>
          {say.stopped(item.name)}, <Ago at={item.at} />
        </>
      )
      return { sentence, action: isAdmin.value ? <Start vmid={item.vmid} /> : <To href="/containers">{say.see}</To> }
    }
    case 'reboot':
      return item.targets[0] === 'host'
        ? { sentence: say.reboot, action: terminalOf('host') }
        : { sentence: say.rebootOf(namesOf(item.targets)), action: <See /> }
    case 'unchecked':
      return { sentence: say.unchecked(namesOf(item.targets)), action: <Recheck targets={item.targets} /> }
    case 'packages':
      return {
        sentence: say.packages(say.packageCount(item.count), say.targetCount(item.targets), item.security),
        action: <To href="/updates">{hostAway.value ? say.see : say.update}</To>,
      }
  }
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

/** Checks the target again, or all of them if there are several. Everybody may. */
function Recheck({ targets }: { targets: readonly string[] }) {
  const check = useAct(() => startCheck(targets.length === 1 && targets[0] ? targets[0] : 'all'))
  return (
    <>
      <Action act={check} class="small" blocked={hostAway.value ? words().updates.awayBlocks : undefined}>
        {words().dashboard.checkAgain}
      </Action>
      <Problem error={check.error.value} />
    </>
  )
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

async function upgradeHost(): Promise<string | undefined> {
  return (await confirmUpgrade('host')) ? startUpgrade('host') : undefined
}

/** Starts a job and shows it; does nothing when the user declines. */
function Starts({ verb, start: starts }: { verb: string; start(): Promise<string | undefined> }) {
  const start = useAct(async () => {
    const id = await starts()
    if (id !== undefined) go(`/updates/${id}`)
  })
  return (
    <>
      <Action act={start} class="small" blocked={hostAway.value ? words().updates.awayBlocks : undefined}>
        {verb}
      </Action>
      <Problem error={start.error.value} />
    </>
  )
}
