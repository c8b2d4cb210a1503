import type { ChannelDraft } from '../../nouns/channel-form.ts'
import { Entry, ZoneEntry } from '../../parts/schedules/entry.tsx'
import { notificationWords } from './words.ts'

interface QuietProps {
  draft: ChannelDraft
  set(part: Partial<ChannelDraft>): void
  wrong: Readonly<Record<string, string>>
}

/** The hours in which only what is critical is sent. */
export function Quiet({ draft: { quiet, from, to, timezone }, set, wrong }: QuietProps) {
  const say = notificationWords().edition
  return (
    <div class="quiet">
      <label class="tick">
        <input
          type="checkbox"
          checked={quiet}
          onChange={({ currentTarget }) => set({ quiet: currentTarget.checked })}
        />
        <span>
          {say.quiet}
          <span class="hint dim">{say.quietHint}</span>
        </span>
      </label>
      {quiet && (
        <div class="triple">
          <Entry
            name="quiet.from"
            type="time"
            label={say.quietFrom}
            value={from}
            error={wrong['quiet.from']}
            typed={(next) => set({ from: next })}
          />
          <Entry
            name="quiet.to"
            type="time"
            label={say.quietTo}
            value={to}
            error={wrong['quiet.to']}
            typed={(next) => set({ to: next })}
          />
          <ZoneEntry
            name="quiet.timezone"
            label={say.timezone}
            value={timezone}
            error={wrong['quiet.timezone']}
            typed={(next) => set({ timezone: next })}
          />
        </div>
      )}
    </div>
  )
}
