import type { ComponentChildren } from 'preact'
import { percent } from '../../nouns/amount.ts'
import type { Attention } from '../../nouns/attention.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { targetName } from '../../parts/target-name.ts'
import { Ago } from '../../parts/time.tsx'
import { mayUpgrade } from '../../parts/upgrade-question.ts'
import { go } from '../../router.ts'
import { startUpgrade } from '../../wire/jobs.ts'
import { isAdmin } from '../../wire/panel.ts'
import { act } from '../../wire/tasks.ts'
import { language, words } from '../../words/words.ts'

/** A thing that needs attention: a sentence, and what to do about it. */
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
      return { sentence: say.dpkg, action: <UpgradeHost verb={say.repair} /> }
    case 'job': {
      const name = targetName(item.target)
      const sentence = (
        <>
          {item.level === 'err' ? say.job(name) : say.flawed(name)}, <Ago at={item.at} />
        </>
      )
      return { sentence, action: <To href={`/updates/${item.job}`}>{say.see}</To> }
    }
    case 'disk':
      return {
        sentence: say.disk(item.name ?? say.theHost, percent(item.used, language())),
        action: isAdmin.value && (
          <To href={`/terminal?target=${item.vmid ? `lxc:${item.vmid}` : 'host'}`}>{say.openTerminal}</To>
        ),
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
      return { sentence: say.reboot, action: isAdmin.value && <To href="/terminal?target=host">{say.openTerminal}</To> }
    case 'unchecked':
      return { sentence: say.unchecked(say.targetCount(item.targets)), action: <To href="/updates">{say.see}</To> }
    case 'packages':
      return {
        sentence: say.packages(say.packageCount(item.count), say.targetCount(item.targets)),
        action: <To href="/updates">{say.update}</To>,
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

/** Starts it where its log is shown. */
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

function UpgradeHost({ verb }: { verb: string }) {
  const start = useAct(async () => {
    if (await mayUpgrade('host')) go(`/updates/${await startUpgrade('host')}`)
  })
  return (
    <>
      <Action act={start} class="small">
        {verb}
      </Action>
      <Problem error={start.error.value} />
    </>
  )
}
