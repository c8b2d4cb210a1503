import { LogOut, Menu as MenuIcon, Search } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { FOR_ADMINS, MENU, titleOf } from '../navigation.ts'
import { PAGES } from '../pages.ts'
import { route, visits } from '../router.ts'
import type { PageName } from '../routes.ts'
import { checks, needing } from '../wire/checks.ts'
import { interruption, rebooting } from '../wire/absence.ts'
import { awaySince, connected } from '../wire/connection.ts'
import { readContainers } from '../wire/containers.ts'
import { hostname, readHost, unconfirmed } from '../wire/host.ts'
import { readJobs, running } from '../wire/jobs.ts'
import { PALETTE_KEY, PALETTE_SHORTCUT } from '../wire/keyboard.ts'
import { isAdmin, me, signOut } from '../wire/panel.ts'
import { isAskedToConfirm } from '../wire/step-up.ts'
import { words } from '../words/words.ts'
import { Dialog, Questions } from './dialog.tsx'
import { Heading } from './heading.tsx'
import { Icon } from './icon.tsx'
import { Keys } from './keys.tsx'
import { lazy, preload } from './lazy.tsx'
import { openPalette, Palette } from './palette.tsx'
import { SchedulesPaused } from './paused.tsx'
import { opened } from './plan/open.ts'
import { Status } from './status.tsx'
import { targetName } from './target-name.ts'
import { now } from './time.tsx'
import { Toasts } from './toast.tsx'

/** The first page has what it needs by then. */
const PRELOAD_MS = 1_000

/** Most visits open no plan. */
const PlanSheet = lazy(async () => (await import('./plan/sheet.tsx')).PlanSheet)
/** The entries of modules in the menu. */
const ModuleEntries = lazy(async () => (await import('./module-entries.tsx')).ModuleEntries)
/** The question who the user is, when an action takes a newer proof. */
export const StepUp = lazy(async () => (await import('./access/step-up.tsx')).StepUp)

/** The pages in the bottom bar of a phone; the others are behind its “More” button. */
const IN_BAR: ReadonlySet<PageName> = new Set(['dashboard', 'updates', 'containers', 'terminal'])

/** The frame around every page for signed-in users. */
export function Shell() {
  const { shell } = words()
  const name = me.value?.username
  useEffect(() => {
    void readJobs()
    // The menu counts full disks.
    void readContainers()
    // Pages report this error themselves; here only the host name is missing.
    readHost().catch(() => {})
  }, [name])
  useEffect(() => {
    const timer = setTimeout(preload, PRELOAD_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class="shell" data-side={me.value?.sidebar_position}>
      <a class="skip" href="#content">
        {shell.skip}
      </a>
      <Sidebar />
      <main id="content" tabIndex={-1}>
        <Away />
        <SchedulesPaused />
        <Content />
      </main>
      <Toasts />
      {opened.value && <PlanSheet />}
      <Questions />
      {isAskedToConfirm.value && <StepUp />}
      <Palette />
      <Keys />
    </div>
  )
}

/** The page of the current address, if the user may see it. Each navigation mounts it again. */
function Content() {
  const { shell } = words()
  const at = route.value
  const page = at?.page
  const allowed = page && (isAdmin.value || !FOR_ADMINS.has(page))
  if (page && allowed) {
    const { Content } = PAGES[page]
    return <Content key={visits.value} />
  }
  if (!page) return <Missing />
  return (
    <>
      <Heading title={titleOf(page, words())} />
      <p>{unconfirmed.value ? shell.unconfirmed : shell.forbidden}</p>
      <p>
        <a href="/">{shell.toDashboard}</a>
      </p>
    </>
  )
}

/** The page for unknown addresses. */
export function Missing() {
  const { shell } = words()
  return (
    <div class="missing">
      <Heading title={shell.missing} />
      <p class="dim">{shell.missingText}</p>
      <p>
        <a class="button primary" href="/">
          {me.value ? shell.toDashboard : shell.toPanel}
        </a>
      </p>
    </div>
  )
}

/** Reports that the service does not answer, with the reason where it is known, and that the host reboots. */
function Away() {
  const { reboot: say } = words()
  const job = rebooting.value
  const isOwnPage = job !== undefined && route.value?.params.job === job.job_id
  return (
    <div class="away" role="status">
      {!connected.value ? (
        <p>
          <Status is={interruption.value && !isLate() ? 'run' : 'warn'} hidden />
          {awaySaid()}
        </p>
      ) : (
        job &&
        !isOwnPage && (
          <p>
            <Status is="run" hidden />
            <span class="grow">{say.underWay}</span>
            <a class="button small" href={`/updates/${job.job_id}`}>
              {say.follow}
            </a>
          </p>
        )
      )}
    </div>
  )
}

/** A host may take so long for its reboot. */
const REBOOT_MS = 15 * 60_000

/** Whether a reboot takes the panel away for longer than it may. */
function isLate(): boolean {
  const since = awaySince.value
  return interruption.value?.why === 'reboot' && since !== undefined && now.value - since > REBOOT_MS
}

function awaySaid(): string {
  const { shell, reboot, dashboard } = words()
  const known = interruption.value
  if (!known) return shell.away
  const { why, target } = known
  if (why === 'reboot') return isLate() ? reboot.away.late : reboot.away.reboot
  const { ofTarget } = dashboard
  if (target === 'host' || target === 'all') return reboot.away[why](ofTarget[target])
  const check = checks.value?.find((each) => each.target === target)
  return reboot.away[why](ofTarget.container(check?.name || targetName(target)))
}

function Sidebar() {
  const [more, showMore] = useState(false)
  const { shell } = words()
  const visit = visits.value
  // A navigation closes the menu.
  useEffect(() => showMore(false), [visit])
  return (
    <nav class="side" aria-label={shell.navigation}>
      <p class="host">
        {shell.product}
        <small class="cut" title={hostname.value}>
          {hostname.value ?? '\u00a0'}
        </small>
      </p>
      <button type="button" class="find" onClick={openPalette} aria-keyshortcuts={PALETTE_SHORTCUT}>
        <Icon of={Search} />
        <span>{shell.palette}</span>
        <kbd>{PALETTE_KEY}</kbd>
      </button>
      <Entries />
      <a class="account" href="/account" aria-current={current('account')}>
        {PAGES.account.icon && <Icon of={PAGES.account.icon} />}
        <span class="cut" title={me.value?.username}>
          {me.value?.username}
        </span>
      </a>
      <SignOut />
      <button type="button" class="more" aria-haspopup="dialog" onClick={() => showMore(true)}>
        <Icon of={MenuIcon} />
        <span>{shell.more}</span>
      </button>
      {more && (
        <Dialog title={shell.menu} class="sheet" onClose={() => showMore(false)}>
          <div class="entries">
            <button
              type="button"
              onClick={() => {
                showMore(false)
                openPalette()
              }}
            >
              <Icon of={Search} />
              <span>{shell.palette}</span>
            </button>
            <Entries all />
            <a href="/account" aria-current={current('account')}>
              {PAGES.account.icon && <Icon of={PAGES.account.icon} />}
              <span>{words().account.title}</span>
            </a>
            <SignOut />
          </div>
        </Dialog>
      )}
    </nav>
  )
}

/** On every page: beside the pages, and on phones in their menu. */
function SignOut() {
  return (
    <button type="button" class="out" onClick={() => void signOut()}>
      <Icon of={LogOut} />
      <span>{words().shell.signOut}</span>
    </button>
  )
}

/** The entry of the menu for pages that are behind another one. */
const WITHIN: Partial<Record<PageName, PageName>> = { job: 'updates', schedule: 'schedules', scheduleRun: 'schedules' }

function current(page: PageName): 'page' | undefined {
  const shown = route.value?.page
  const isWithin = shown === page || (shown !== undefined && WITHIN[shown] === page)
  return isWithin ? 'page' : undefined
}

function Entries({ all = false }: { all?: boolean }) {
  const allowed = MENU.filter(({ page }) => isAdmin.value || !FOR_ADMINS.has(page))
  return (
    <ul>
      {allowed.map(({ page, path }) => {
        const { icon } = PAGES[page]
        // The bottom bar of a phone has no room for the name of the dashboard.
        const isShort = !all && page === 'dashboard'
        return (
          <li key={page} class={all || IN_BAR.has(page) ? undefined : 'wide'}>
            <a href={path} aria-current={current(page)}>
              {icon && <Icon of={icon} />}
              <span class={isShort ? 'long' : undefined}>{titleOf(page, words())}</span>
              {isShort && <span class="short">{words().shell.short}</span>}
              {page === 'updates' && <Needing />}
            </a>
          </li>
        )
      })}
      <ModuleEntries />
    </ul>
  )
}

/** The number of targets that need somebody, or a mark for running jobs, beside the updates entry. */
function Needing() {
  const { shell } = words()
  if (running.value.length > 0)
    return (
      <span class="count">
        <Status is="run" hidden>
          {shell.jobsRunning(running.value.length)}
        </Status>
      </span>
    )
  const { count, isBroken } = needing.value
  if (count === 0) return null
  return (
    <span class={isBroken ? 'count need broken' : 'count need'} title={shell.need(count, isBroken)}>
      <span aria-hidden="true">{count}</span>
      <span class="unseen">{shell.need(count, isBroken)}</span>
    </span>
  )
}
