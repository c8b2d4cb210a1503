import { useSignal } from '@preact/signals'
import { Bell, Plus } from 'lucide'
import type { Channel } from '../nouns/notification.ts'
import { standingOf } from '../nouns/notification.ts'
import { Heading } from '../parts/heading.tsx'
import { Icon } from '../parts/icon.tsx'
import { addLaterStyle } from '../parts/later-style.ts'
import { Loaded } from '../parts/loaded.tsx'
import css from '../style/later/notifications.css' with { type: 'text' }
import { useLoad } from '../wire/load.ts'
import { readChannels } from '../wire/notifications.ts'
import { ChannelRow } from './notifications/channel-row.tsx'
import { EditChannel } from './notifications/edit.tsx'
import { Notices } from './notifications/notices.tsx'
import { notificationWords } from './notifications/words.ts'

addLaterStyle(css)

const EVERY_MS = 10_000

/** The channels with how their last delivery went, and what was sent. */
export function NotificationsPage() {
  const say = notificationWords()
  const load = useLoad(readChannels, [], { everyMs: EVERY_MS })
  /** The channel in the dialog; `new` for one that is made. */
  const edited = useSignal<Channel | 'new' | undefined>(undefined)
  const known = load.data.value
  const create = () => (edited.value = 'new')
  return (
    <div class="answer-page notifications-page">
      <Heading title={titleOf(known)} note={known && noteOf(known)}>
        {known && known.length > 0 && (
          <button type="button" class="button primary" onClick={create}>
            <Icon of={Plus} />
            {say.create}
          </button>
        )}
      </Heading>
      <Loaded of={load} rows={4}>
        {(channels) => (
          <>
            {channels.length === 0 ? (
              <div class="empty">
                <Icon of={Bell} />
                <p>
                  <b>{say.empty}</b>
                </p>
                <p>{say.emptyText}</p>
                <p>
                  <button type="button" class="button primary" onClick={create}>
                    {say.first}
                  </button>
                </p>
              </div>
            ) : (
              <ul class="list channels" aria-label={say.channels}>
                {channels.map((each) => (
                  <ChannelRow key={each.id} of={each} edit={() => (edited.value = each)} changed={load.reload} />
                ))}
              </ul>
            )}
            <Notices channels={channels} />
          </>
        )}
      </Loaded>
      {edited.value !== undefined && (
        <EditChannel
          stored={edited.value === 'new' ? undefined : edited.value}
          saved={load.reload}
          close={() => (edited.value = undefined)}
        />
      )}
    </div>
  )
}

function titleOf(known: readonly Channel[] | undefined): string {
  const say = notificationWords()
  if (known === undefined) return say.channels
  return known.length === 0 ? say.none : say.title(known.length)
}

function noteOf(known: readonly Channel[]): string | undefined {
  const say = notificationWords()
  const refused = known.filter((each) => standingOf(each) === 'refused')
  const [first] = refused
  if (first) return say.refused(first.name, refused.length)
  return known.some((each) => standingOf(each) === 'delivered') ? say.allThrough : undefined
}
