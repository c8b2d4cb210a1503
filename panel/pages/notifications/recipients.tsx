import { Check, Pause } from 'lucide'
import { useRef } from 'preact/hooks'
import { type Channel, type EventName, eventsOf, ORDER, type Severity, toldOf } from '../../nouns/notification.ts'
import { Icon } from '../../parts/icon.tsx'
import { useNarrow } from '../../parts/narrow.ts'
import { Status } from '../../parts/status.tsx'
import { notificationWords } from './words.ts'

/** A table of more channels, or in less room, has a line with the names of its channels for each event. */
const MOST_COLUMNS = 5
const LEAST_WIDTH = 680

/** Which event goes to which channel, the worst first. An event that nobody gets says so. */
export function Recipients({ of: channels }: { of: readonly Channel[] }) {
  const say = notificationWords()
  const place = useRef<HTMLElement>(null)
  const isNarrow = useNarrow(place, LEAST_WIDTH)
  const isList = isNarrow || channels.length > MOST_COLUMNS
  return (
    <section class="recipients" aria-labelledby="recipients" ref={place}>
      <h2 id="recipients">{say.recipients}</h2>
      <table class={isList ? 'as-list' : undefined} aria-labelledby="recipients">
        <thead>
          <tr>
            <th scope="col" class="event">
              {say.event}
            </th>
            {channels.map((each) => (
              <th key={each.id} scope="col">
                <span class="cut" title={each.name}>
                  {each.name}
                </span>
                {noteOf(each) !== undefined && <span class="dim small">{noteOf(each)}</span>}
              </th>
            ))}
          </tr>
        </thead>
        {ORDER.map((severity) => (
          <tbody key={severity}>
            <tr class="group">
              <th scope="rowgroup" colSpan={channels.length + 1}>
                {say.severities[severity]}
              </th>
            </tr>
            {eventsOf(severity).map((event) => (
              <EventRow key={event} event={event} severity={severity} channels={channels} />
            ))}
          </tbody>
        ))}
      </table>
    </section>
  )
}

interface EventRowProps {
  event: EventName
  severity: Severity
  channels: readonly Channel[]
}

function EventRow({ event, severity, channels }: EventRowProps) {
  const say = notificationWords()
  const isTold = channels.some((each) => /^(all|some)$/.test(toldOf(each, event)))
  return (
    <tr>
      <th scope="row" class="event">
        {say.events[event]}
        {!isTold &&
          (severity === 'info' ? (
            <span class="dim small nobody">{say.nobody}</span>
          ) : (
            <span class="nobody">
              <Status is="warn">{say.nobody}</Status>
            </span>
          ))}
      </th>
      {channels.map((each) => {
        const told = toldOf(each, event)
        const note = noteOf(each)
        return told === 'no' ? (
          <td key={each.id} class="not">
            <span aria-hidden="true">–</span>
            <span class="unseen">{say.notTold}</span>
          </td>
        ) : (
          <td key={each.id} class={told === 'paused' ? 'dim' : undefined}>
            <Icon of={told === 'paused' ? Pause : Check} />
            <span class="name">{note === undefined ? each.name : `${each.name} (${note})`}</span>
          </td>
        )
      })}
    </tr>
  )
}

/** Why a channel gets less than its events say. */
function noteOf({ enabled, targets }: Channel): string | undefined {
  const { standings, line } = notificationWords()
  if (!enabled) return standings.paused.toLowerCase()
  return targets === 'all' ? undefined : line.targets(targets.length)
}
