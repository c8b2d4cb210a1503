import { useSignal } from '@preact/signals'
import { Bell, Plus } from 'lucide'
import type { Channel } from '../nouns/notification.ts'
import { type Notice, sendingOf, standingOf, worstChannels } from '../nouns/notification.ts'
import { Heading } from '../parts/heading.tsx'
import { Icon } from '../parts/icon.tsx'
import { addLaterStyle } from '../parts/later-style.ts'
import { Loaded } from '../parts/loaded.tsx'
import css from '../style/later/notifications.css' with { type: 'text' }
import { useSteady } from '../parts/steady.ts'
import { useLoad } from '../wire/load.ts'
import { readChannels, readNotices } from '../wire/notifications.ts'
import { language } from '../words/words.ts'
import { ChannelRow } from './notifications/channel-row.tsx'
import { EditChannel } from './notifications/edit.tsx'
import { Notices } from './notifications/notices.tsx'
import { Recipients } from './notifications/recipients.tsx'
import { notificationWords } from './notifications/words.ts'

addLaterStyle(css)

const EVERY_MS = 10_000

/** The channels with how their last delivery went, and what was sent. */
export function NotificationsPage() {
  const say = notificationWords()
  const load = useLoad(readChannels, [], { everyMs: EVERY_MS })
  const sent = useLoad((signal) => readNotices(undefined, signal), [language()], { everyMs: EVERY_MS })
  const newest = sent.data.value?.notices ?? []
  /** The channel in the dialog; `new` for one that is made. */
  const edited = useSignal<Channel | 'new' | undefined>(undefined)
  const known = load.data.value
  const create = () => (edited.value = 'new')
  return (
    <div class="answer-page notifications-page">
      <Heading title={titleOf(known)} note={known && noteOf(known, newest)}>
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
              <Channels of={channels} newest={newest} edit={(each) => (edited.value = each)} changed={load.reload} />
            )}
            {channels.length > 0 && <Recipients of={channels} />}
            <Notices load={sent} channels={channels} />
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

interface ChannelsProps {
  of: readonly Channel[]
  newest: readonly Notice[]
  edit(channel: Channel): void
  changed(): Promise<void>
}

/** Those that do not get through come first; nothing moves while somebody works among them. */
function Channels({ of, newest, edit, changed }: ChannelsProps) {
  const sorted = worstChannels(of, newest).map(({ id }) => id)
  const { rows, hold } = useSteady([{ group: 'all', targets: sorted }], '')
  const byId = new Map(of.map((each) => [each.id, each]))
  return (
    <ul class="list channels" aria-label={notificationWords().channels} {...hold}>
      {rows
        .flatMap(({ targets }) => targets.flatMap((id) => byId.get(id) ?? []))
        .map((each) => (
          <ChannelRow
            key={each.id}
            of={each}
            sending={sendingOf(each.id, newest)}
            edit={() => edit(each)}
            changed={changed}
          />
        ))}
    </ul>
  )
}

function titleOf(known: readonly Channel[] | undefined): string {
  const say = notificationWords()
  if (known === undefined) return say.channels
  return known.length === 0 ? say.none : say.title(known.length)
}

function noteOf(known: readonly Channel[], newest: readonly Notice[]): string | undefined {
  const say = notificationWords()
  const standing = (each: Channel) => standingOf(each, sendingOf(each.id, newest))
  const refused = known.filter((each) => /^(refused|given_up)$/.test(standing(each)))
  const [first] = refused
  if (first) return say.refused(first.name, refused.length)
  const used = known.filter((each) => each.enabled)
  return used.length > 0 && used.every((each) => standing(each) === 'delivered') ? say.allThrough : undefined
}
