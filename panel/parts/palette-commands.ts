import {
  ArrowUpRight,
  type IconNode,
  Keyboard,
  LogOut,
  Play,
  Power,
  RefreshCw,
  RotateCw,
  SquareTerminal,
  Upload,
  Zap,
} from 'lucide'
import { FOR_ADMINS, MENU, titleOf } from '../navigation.ts'
import { PAGES } from '../pages.ts'
import { go, match as pageAt } from '../router.ts'
import { startCheck } from '../wire/checks.ts'
import { type Container, containers, containersAway } from '../wire/containers.ts'
import { hostAway } from '../wire/host.ts'
import { running } from '../wire/jobs.ts'
import { canBeChecked, targets } from '../wire/packages.ts'
import { places } from '../wire/palette.ts'
import { isAdmin, mayOperate, signOut } from '../wire/panel.ts'
import { type Action, act, asked, isUnderWay } from '../wire/tasks.ts'
import { words } from '../words/words.ts'
import { confirmAction } from './container-actions.tsx'
import { openKeyMap } from './key-map.tsx'
import { reviewPlan } from './plan/open.ts'
import { jobName, targetName } from './target-name.ts'

export interface Command {
  /** A stable id, which the list of recent commands stores. */
  id: string
  kind: 'page' | 'job' | 'target' | 'place' | 'command'
  title: string
  /** Additional search words. */
  more?: string
  icon?: IconNode | undefined
  /** Runs the command; calls `close` when the palette should close. The palette shows an error. */
  run(close: () => void): unknown
}

/** All commands that the user may run from anywhere. Among equal matches, the less harmful command comes first. */
export function commands(): Command[] {
  return [...toPages(), ...toJobs(), ...toTargets(), ...onTargets(), ...onContainers(), ...toPlaces(), ...ofPanel()]
}

/** Closes the palette first, so that the page gets the focus. */
function leads(to: string) {
  return (close: () => void) => {
    close()
    go(to)
  }
}

function toPages(): Command[] {
  const pages = [...MENU, { page: 'account', path: '/account' } as const]
  return pages
    .filter(({ page }) => isAdmin.value || !FOR_ADMINS.has(page))
    .map(({ page, path }) => {
      const { icon } = PAGES[page]
      return { id: `page:${page}`, kind: 'page', title: titleOf(page, words()), icon, run: leads(path) }
    })
}

function toJobs(): Command[] {
  const say = words().palette
  return running.value.map(({ job_id, kind, target }) => {
    const icon = PAGES.updates.icon
    const name = jobName({ kind, target })
    const title = kind === undefined ? say.follow(name) : say.followOther(name)
    return { id: `job:${job_id}`, kind: 'job', title, icon, run: leads(`/updates/${job_id}`) }
  })
}

/** The way to a target for those who do not work on it. */
function toTargets(): Command[] {
  return (targets.value ?? []).flatMap(({ id, vmid }) => {
    if (mayOperate(id)) return []
    const title = words().palette.see(targetName(id))
    const run = leads(`/updates?open=${id}`)
    return [{ id: `see:${id}`, kind: 'target', title, more: `${vmid ?? ''}`, icon: PAGES.updates.icon, run }]
  })
}

function onTargets(): Command[] {
  const say = words().palette
  // Commands that cannot work are not offered.
  if (hostAway.value) return []
  // The list of containers may be newer than the last check.
  const stopped = new Set(containers.value?.flatMap(({ vmid, status }) => (status === 'running' ? [] : [vmid])))
  const alive = (targets.value ?? []).filter((each) => canBeChecked(each) && !(each.vmid && stopped.has(each.vmid)))
  return alive.flatMap(({ id, vmid, upgradable }) => {
    const name = targetName(id)
    const about = { kind: 'target' as const, more: vmid === undefined ? '' : `${vmid}` }
    const upgrade = { ...about, id: `upgrade:${id}`, title: say.upgrade(name), icon: Upload, run: upgrades(id) }
    const terminal = { ...about, id: `terminal:${id}`, title: say.terminal(name), icon: SquareTerminal }
    return [
      ...(isAdmin.value ? [{ ...terminal, run: leads(`/terminal?target=${id}`) }] : []),
      ...(upgradable && mayOperate(id) ? [upgrade] : []),
    ]
  })
}

/** Shows the plan first, because a few letters may match the wrong target. */
function upgrades(target: string) {
  return async (close: () => void) => {
    close()
    // The palette first gives the focus back, so that the sheet can return it there.
    await new Promise((resolve) => setTimeout(resolve))
    const job = await reviewPlan(target)
    if (job !== undefined) go(`/updates/${job}`)
  }
}

const ACTION_ICONS = { start: Play, reboot: RotateCw, shutdown: Power, stop: Zap } as const

function onContainers(): Command[] {
  if (containersAway.value) return []
  return (containers.value ?? []).filter(isFree).flatMap((container) => {
    const { vmid, name, status, tags } = container
    const actions: Action[] = status === 'running' ? ['shutdown', 'reboot', 'stop'] : ['start']
    return actions.map((action) => ({
      id: `${action}:${vmid}`,
      kind: 'target' as const,
      title: words().containers.verbOf[action](name),
      more: [vmid, ...(tags ?? [])].join(' '),
      icon: ACTION_ICONS[action],
      async run(close: () => void) {
        if (!(await confirmAction(container, action))) return
        // The containers page shows the progress.
        leads('/containers')(close)
        void act(vmid, action)
      },
    }))
  })
}

/** Whether the user can act on a container now. */
function isFree({ vmid, lock }: Container): boolean {
  const current = asked.value.get(vmid)
  return mayOperate(`lxc:${vmid}`) && !lock && !(current && isUnderWay(current))
}

function toPlaces(): Command[] {
  return (places.value ?? []).map(({ label, href, drawn = ArrowUpRight }) => ({
    id: `place:${href}`,
    kind: 'place',
    title: label,
    more: href,
    icon: drawn,
    run(close) {
      close()
      if (!href.startsWith('/')) open(href, '_blank', 'noopener,noreferrer')
      else if (pageAt(href)) go(href)
      else location.assign(href)
    },
  }))
}

/** Checks all targets and opens the updates page. */
function checkAll(): Command[] {
  if (hostAway.value || !mayOperate('all')) return []
  return [
    {
      id: 'check',
      kind: 'command',
      title: words().palette.check,
      icon: RefreshCw,
      async run(close) {
        await startCheck('all')
        leads('/updates')(close)
      },
    },
  ]
}

function ofPanel(): Command[] {
  const { keys, shell } = words()
  return [
    ...checkAll(),
    {
      id: 'keys',
      kind: 'command',
      title: keys.title,
      icon: Keyboard,
      run(close) {
        close()
        openKeyMap()
      },
    },
    {
      id: 'signOut',
      kind: 'command',
      title: shell.signOut,
      icon: LogOut,
      run(close) {
        close()
        return signOut()
      },
    },
  ]
}
