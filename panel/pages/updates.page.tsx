import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { oldestOf } from '../nouns/checked.ts'
import { reviewable } from '../nouns/target-list.ts'
import { Counted } from '../parts/access/reach.tsx'
import { Action, useAct } from '../parts/action.tsx'
import { ApplicationSheet } from '../parts/applications/sheet.tsx'
import { Heading } from '../parts/heading.tsx'
import { Placeholder } from '../parts/loaded.tsx'
import { useNarrow } from '../parts/narrow.ts'
import { Problem } from '../parts/problem.tsx'
import { Ago } from '../parts/time.tsx'
import { go, keepInQuery, route } from '../router.ts'
import { checks, checksError, checkWhatIsDue, isChecking, readChecks, startCheck, useChecks } from '../wire/checks.ts'
import { hostAway, readHost } from '../wire/host.ts'
import { history, running } from '../wire/jobs.ts'
import { useLoad } from '../wire/load.ts'
import { readTargets } from '../wire/packages.ts'
import { mayOperate } from '../wire/panel.ts'
import { words } from '../words/words.ts'
import { useDeeds } from './updates/deeds.ts'
import { HeldList, heldIn } from './updates/held-list.tsx'
import { History } from './updates/history.tsx'
import { byRun } from './updates/job-table.tsx'
import { Outputs } from './updates/outputs.tsx'
import { ProtectionTab } from './updates/protection-tab.tsx'
import { ReviewButton } from './updates/review-button.tsx'
import { Summary, titleOf } from './updates/summary.tsx'
import { TABS, type Tab, Tabs } from './updates/tabs.tsx'
import { TargetList } from './updates/target-list.tsx'

const HOST_MS = 30_000
/** The least width, in pixels, with which the output stands beside the targets, as in the styles. */
const BESIDE = 960

const tabOf = (shown: typeof route.value): Tab => TABS.find((each) => each === shown?.query.get('tab')) ?? 'targets'

/** The targets with their updates and running jobs, the history, and the held packages. */
export function UpdatesPage() {
  const say = words().updates
  useChecks()
  const host = useLoad(readHost, [], { everyMs: HOST_MS })
  // Known results appear at once; the list of containers is then read again.
  const load = useLoad(async (signal) => {
    const found = await readTargets(signal)
    await checkWhatIsDue()
    return found
  })
  const tab = tabOf(route.value)
  const choose = (next: Tab) => keepInQuery({ tab: next === 'targets' ? undefined : next })
  /** The job whose output is shown: nothing opens by itself, because the targets would move. */
  const shown = useSignal<string>()
  const sought = useSignal<string>()
  const show = (id: string) => {
    // People who have chosen another tab since they asked for the job stay there.
    if (tabOf(route.peek()) === tab) choose('targets')
    shown.value = id
    sought.value = id
  }
  const close = () => {
    // The pressed button disappears.
    document.getElementById('tab-targets')?.focus()
    shown.value = undefined
  }
  const deeds = useDeeds(show)
  const known = checks.value ?? []
  const busy = new Set(
    running.value.flatMap(({ kind, target }) => (kind === undefined || kind === 'application' ? [target] : [])),
  )
  const all = reviewable(known, busy).filter(({ target }) => mayOperate(target))
  const urgent = all.filter(({ counts }) => counts.security > 0)
  const checkAll = useAct(() => startCheck('all'))
  const panel = useRef<HTMLDivElement>(null)
  // Below a long list, nobody would see the output.
  const isNarrow = useNarrow(panel, BESIDE)
  const list = checks.value && <TargetList key="list" checks={known} deeds={deeds} />
  const output = shown.value !== undefined && (
    <Outputs
      key="output"
      shown={shown.value}
      isSought={sought.value === shown.value}
      onSeen={() => (sought.value = undefined)}
      choose={(id) => (shown.value = id)}
      onClose={close}
    />
  )
  return (
    <div class="updates-page">
      <Heading title={titleOf(checks.value)} note={<Summary />}>
        {mayOperate('all') && (
          <Action act={checkAll} blocked={deeds.blocked}>
            {checkAll.busy.value || isChecking.value ? say.checking : say.checkAll}
          </Action>
        )}
        {urgent.length > 0 && <ReviewButton checks={urgent} only="security" blocked={deeds.blocked} />}
        {all.length > 0 && <ReviewButton checks={all} only="all" blocked={deeds.blocked} />}
      </Heading>
      <Counted />
      <Problem error={host.error.value} retry={host.reload} />
      {hostAway.value && (
        <p class="dim aged">
          <Ago at={oldestOf(known).checked} say={say.lastKnown} /> {say.awayBlocks}
        </p>
      )}
      {host.error.value === undefined && <Problem error={load.error.value} retry={load.reload} />}
      <Problem error={checksError.value} retry={readChecks} />
      <Problem error={checkAll.error.value} />
      <Problem error={deeds.error} />
      <Tabs
        chosen={tab}
        choose={choose}
        counts={{
          targets: checks.value?.length,
          runs: history.value && byRun(history.value).length,
          protection: undefined,
          held: checks.value && heldIn(known).reduce((sum, { finding }) => sum + finding.packages.length, 0),
        }}
      />
      <div id="updates-panel" ref={panel} role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === 'targets' && (
          <div class={shown.value === undefined ? 'updates' : 'updates beside'}>
            {isNarrow ? [output, list] : [list, output]}
            {!checks.value && checksError.value === undefined && <Placeholder rows={4} />}
          </div>
        )}
        {tab === 'runs' && <History />}
        {tab === 'held' && <HeldList checks={known} deeds={deeds} />}
        {tab === 'protection' && <ProtectionTab show={(job) => go(`/updates/${job}`)} />}
      </div>
      <ApplicationSheet />
    </div>
  )
}
