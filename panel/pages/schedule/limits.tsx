import type { Signal } from '@preact/signals'
import { type Draft, namesHost, type PingChange } from '../../nouns/schedule-form.ts'
import { Choice } from '../../parts/choice.tsx'
import { scheduleWords } from '../../parts/schedules/words.ts'
import { Entry } from '../../parts/schedules/entry.tsx'

interface LimitsProps {
  draft: Draft
  set(part: Partial<Draft>): void
  wrong: Readonly<Record<string, string>>
  ping: Signal<PingChange>
  /** Whether an address to call is stored. */
  isPinged: boolean
}

/** The rule for failures, the restart of the host at the end, and the address that is called. */
export function Limits({ draft, set, wrong, ping, isPinged }: LimitsProps) {
  const say = scheduleWords().edition
  const isUpgrade = draft.action === 'upgrade'
  const mayReboot = namesHost(draft.waves)
  return (
    <section class="card" aria-labelledby="schedule-limits">
      <h2 id="schedule-limits">{say.limits}</h2>
      <div class="field">
        <Choice
          label={say.failure}
          value={draft.on_failure}
          of={say.failures}
          choose={(next) => set({ on_failure: next })}
        />
        <p class="hint dim">{say.failureHints[draft.on_failure]}</p>
        {isUpgrade && <p class="hint dim">{say.protection}</p>}
      </div>
      {isUpgrade && (
        <div class="field">
          {mayReboot ? (
            <>
              <Choice
                label={say.reboot}
                value={draft.reboot}
                of={say.reboots}
                choose={(next) => set({ reboot: next })}
              />
              <p class="hint dim">{say.rebootHint}</p>
            </>
          ) : (
            <>
              <b>{say.reboot}</b>
              <p class="hint dim">{say.rebootNeedsHost}</p>
            </>
          )}
          {wrong.reboot && <p class="wrong">{wrong.reboot}</p>}
        </div>
      )}
      <Ping ping={ping} isPinged={isPinged} error={wrong.ping_url} />
    </section>
  )
}

/** The address is stored and never shown again, so it can only be replaced or removed. */
function Ping({ ping, isPinged, error }: { ping: Signal<PingChange>; isPinged: boolean; error: string | undefined }) {
  const say = scheduleWords().edition
  if (isPinged && typeof ping.value !== 'string')
    return (
      <div class="field">
        <b>{say.ping}</b>
        <p class="hint dim">{ping.value === null ? say.pingRemoved : say.pingSet}</p>
        <p class="buttons-row">
          <button type="button" class="button small" onClick={() => (ping.value = '')}>
            {say.pingReplace}
          </button>
          <button
            type="button"
            class="button small"
            onClick={() => (ping.value = ping.value === null ? undefined : null)}
          >
            {ping.value === null ? say.pingKept : say.pingRemove}
          </button>
        </p>
      </div>
    )
  return (
    <Entry
      name="ping_url"
      label={say.ping}
      hint={say.pingHint}
      value={ping.value ?? ''}
      error={error}
      typed={(next) => {
        const text = next.trim()
        ping.value = text === '' ? undefined : text
      }}
    />
  )
}
