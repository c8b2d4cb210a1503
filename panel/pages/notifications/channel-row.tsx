import { useSignal } from '@preact/signals'
import { X } from 'lucide'
import { ApiError } from '../../../client/index.ts'
import {
  CHANNEL_STATUS,
  type Channel,
  isWhole,
  leastOf,
  type Sending,
  standingOf,
  toldEvents,
} from '../../nouns/notification.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { targetName } from '../../parts/target-name.ts'
import { Ago } from '../../parts/time.tsx'
import { toast } from '../../parts/toast.tsx'
import { changeChannel, removeChannel, type Tried, tryChannel } from '../../wire/notifications.ts'
import { fromService } from '../../words/words.ts'
import { KIND_ICONS } from './kind-icons.ts'
import { nextSaid, notificationWords } from './words.ts'

interface ChannelRowProps {
  of: Channel
  sending: Sending
  edit(): void
  /** Called after a change. */
  changed(): Promise<void>
}

/** The number of targets that a row names. */
const NAMED = 3

/** A channel: what it gets, how its last delivery went, and a test. */
export function ChannelRow({ of, sending, edit, changed }: ChannelRowProps) {
  const say = notificationWords()
  const { id, name, kind, enabled, last } = of
  const standing = standingOf(of, sending)
  const tried = useSignal<Tried | undefined>(undefined)
  const test = useAct(async () => {
    tried.value = undefined
    try {
      tried.value = await tryChannel(id)
    } finally {
      await changed()
    }
  })
  const toggle = useAct(async () => {
    const { title, ...rest } = say.pausing
    if (enabled && !(await confirm({ ...rest, title: title(name) }))) return
    await changeChannel(id, { enabled: !enabled })
    await changed()
  })
  const remove = useAct(async () => {
    const { title, ...rest } = say.removing
    if (!(await confirm({ ...rest, title: title(name), danger: true }))) return
    await removeChannel(id)
    toast(say.removed(name))
    document.querySelector<HTMLElement>('h1')?.focus()
    await changed()
  })
  return (
    <li class={enabled ? undefined : 'off'}>
      <span class="avatar">
        <Icon of={KIND_ICONS[kind]} />
      </span>
      <div class="grow">
        <b class="anywhere">{name}</b>
        <p class="dim small">{lineOf(of)}</p>
      </div>
      <div class="last">
        <Status is={CHANNEL_STATUS[standing]}>{say.standings[standing]}</Status>
        <p class="dim small">
          {last ? <Ago at={last.at} /> : say.never}
          {last && !last.ok && last.error !== null && <span class="anywhere"> · {fromService(last.error)}</span>}
        </p>
        {enabled && <Pending of={sending} isBad={!/^(delivered|unused)$/.test(standing)} />}
      </div>
      <div class="deeds">
        <Action act={test} class="small" label={say.testOf(name)}>
          {say.test}
        </Action>
        <Menu label={say.actions(name)}>
          <button type="button" onClick={edit}>
            {say.edit}
          </button>
          <button type="button" onClick={() => void toggle.run()}>
            {enabled ? say.pause : say.resume}
          </button>
          <button type="button" onClick={() => void remove.run()}>
            {say.remove}
          </button>
        </Menu>
      </div>
      <Problem error={toggle.error.value ?? remove.error.value} />
      <Result
        tried={tried.value}
        error={test.error.value}
        hide={() => {
          tried.value = undefined
          test.forget()
        }}
      />
    </li>
  )
}

/** Says whether messages wait for this channel, and whether some never arrived. */
function Pending({ of: { isWaiting, nextAt, isGivenUp }, isBad }: { of: Sending; isBad: boolean }) {
  const say = notificationWords()
  const parts = [
    ...(isWaiting ? [say.waiting] : []),
    ...(nextAt === undefined ? [] : [nextSaid(nextAt)]),
    ...(isGivenUp ? [say.lost] : []),
  ]
  return parts.length === 0 ? null : <p class={isBad ? 'small warn-text' : 'small dim'}>{parts.join(' · ')}</p>
}

/** The kind, targets, events and quiet hours of a channel in one line. */
function lineOf(channel: Channel): string {
  const say = notificationWords()
  const { kind, targets, quiet } = channel
  const events = toldEvents(channel)
  const named = targets === 'all' ? [] : targets.slice(0, NAMED).map((target) => targetName(target))
  const rest = targets === 'all' ? 0 : targets.length - named.length
  return [
    say.kinds[kind],
    targets === 'all' ? say.line.all : rest > 0 ? say.line.targets(targets.length) : named.join(', '),
    isWhole(events) ? say.line.from[leastOf(events)] : say.line.some(events.length),
    ...(quiet ? [say.line.quiet(quiet.from, quiet.to)] : []),
  ].join(' · ')
}

interface ResultProps {
  tried: Tried | undefined
  error: unknown
  hide(): void
}

/** The result of a test in the receiver's own words. */
function Result({ tried, error, hide }: ResultProps) {
  const say = notificationWords()
  const isRefused = error instanceof ApiError && error.code === 'channel_refused'
  if (error !== undefined && !isRefused) return <Problem error={error} />
  if (!tried && !isRefused) return null
  return (
    <div class={isRefused ? 'result refused' : 'result'} role="status">
      <Status is={isRefused ? 'err' : 'ok'} hidden />
      <div class="grow">
        <p>
          <b>{isRefused ? say.testRefused : say.arrived}</b>
        </p>
        <p class="dim anywhere">
          {isRefused ? fromService(error.message) : tried && say.answered(tried.status, tried.answer)}
        </p>
      </div>
      <button type="button" class="button plain small" aria-label={say.hide} onClick={hide}>
        <Icon of={X} />
      </button>
    </div>
  )
}
