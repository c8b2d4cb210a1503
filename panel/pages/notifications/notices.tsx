import { useSignal } from '@preact/signals'
import { ChevronRight } from 'lucide'
import { useId } from 'preact/hooks'
import { type Channel, DELIVERY_STATUS, type Delivery, type Notice, SEVERITY_STATUS } from '../../nouns/notification.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import type { Load } from '../../wire/load.ts'
import { readNotices } from '../../wire/notifications.ts'
import { fromService } from '../../words/words.ts'
import { nextSaid, notificationWords } from './words.ts'

interface Page {
  notices: readonly Notice[]
  /** The `before` of the following ones. */
  next: number | null
}

/** The order in which a row tells what became of a notice. */
const STATES = ['given_up', 'waiting', 'quiet', 'delivered'] as const

interface NoticesProps {
  /** The newest ones. */
  load: Load<Page>
  channels: readonly Channel[]
}

/** The notices that were sent, newest first; older ones load on demand. */
export function Notices({ load, channels }: NoticesProps) {
  const say = notificationWords()
  const older = useSignal<Page | undefined>(undefined)
  const newest = load.data.value?.notices ?? []
  const least = newest.at(-1)?.id ?? 0
  const all = [...newest, ...(older.value?.notices ?? []).filter(({ id }) => id < least)]
  const next = older.value ? older.value.next : (load.data.value?.next ?? null)
  const more = useAct(async () => {
    if (next === null) return
    const found = await readNotices(next)
    // The notices that are here now stay below the first page as new ones come.
    older.value = { notices: [...all, ...found.notices], next: found.next }
  })
  return (
    <section class="notices" aria-labelledby="notices">
      <h2 id="notices">{say.notices}</h2>
      <Loaded of={load} rows={4}>
        {() =>
          all.length === 0 ? (
            <p class="empty">{say.noNotices}</p>
          ) : (
            <ol class="list">
              {all.map((each) => (
                <NoticeRow key={each.id} of={each} channels={channels} />
              ))}
            </ol>
          )
        }
      </Loaded>
      <Problem error={more.error.value} retry={more.run} />
      {next !== null && (
        <p class="below">
          <Action act={more}>{say.more}</Action>
        </p>
      )}
    </section>
  )
}

function NoticeRow({ of, channels }: { of: Notice; channels: readonly Channel[] }) {
  const say = notificationWords()
  const id = useId()
  const isOpen = useSignal(false)
  const { title, text, severity, event, at, link, deliveries } = of
  const isBack = event === 'rolled_back'
  return (
    <li>
      <Status is={isBack ? 'back' : event === 'upgrade_done' ? 'ok' : SEVERITY_STATUS[severity]} hidden>
        {say.severities[severity]}
      </Status>
      <div class="grow">
        <button
          type="button"
          class="disclose"
          aria-expanded={isOpen.value}
          aria-controls={id}
          onClick={() => (isOpen.value = !isOpen.value)}
        >
          <Icon of={ChevronRight} />
          <span class="anywhere">{title}</span>
        </button>
        <p class="dim small">{summaryOf(deliveries, channels)}</p>
      </div>
      <span class="dim small nowrap">
        <Ago at={at} />
      </span>
      {isOpen.value && (
        <div id={id} class="more">
          <p class="text anywhere">{text}</p>
          <Deliveries of={deliveries} channels={channels} />
          <p>
            <a class="button small" href={pathOf(link)}>
              {say.show}
            </a>
          </p>
        </div>
      )}
    </li>
  )
}

/** The path of a link, which is absolute where the service knows its own address. A link to another place leads nowhere. */
function pathOf(link: string): string {
  const { pathname, search } = new URL(link, location.origin)
  return pathname + search
}

function channelName(id: string, channels: readonly Channel[]): string {
  return channels.find((each) => each.id === id)?.name ?? notificationWords().goneChannel
}

/** “Phone, email; Home Assistant waits”. */
function summaryOf(deliveries: readonly Delivery[], channels: readonly Channel[]): string {
  const say = notificationWords()
  if (deliveries.length === 0) return say.noChannel
  return STATES.flatMap((state) => {
    const names = deliveries
      .filter((each) => each.state === state)
      .map((each) => channelName(each.channel_id, channels))
    return names.length > 0 ? [say.byState[state](names.join(', '))] : []
  }).join(say.between)
}

function Deliveries({ of: deliveries, channels }: { of: readonly Delivery[]; channels: readonly Channel[] }) {
  const say = notificationWords()
  return (
    <ul class="deliveries">
      {deliveries.map(
        ({ channel_id: channel, state, attempts, last_error: error, delivered_at: at, next_at: next }) => (
          <li key={channel}>
            <Status is={DELIVERY_STATUS[state]}>{say.deliveries[state]}</Status>
            <span class="grow">
              <span class="anywhere">{channelName(channel, channels)}</span>
              <span class="dim small">
                {' '}
                · {say.attempts(attempts)}
                {at !== null && (
                  <>
                    {' '}
                    · <Ago at={at} />
                  </>
                )}
                {next !== null && ` · ${nextSaid(next, state)}`}
              </span>
              {error !== null && state !== 'delivered' && (
                <span class="dim small anywhere reason">{fromService(error)}</span>
              )}
            </span>
          </li>
        ),
      )}
    </ul>
  )
}
