import type { ChannelDraft } from '../../nouns/channel-form.ts'
import { type EventName, eventsOf, ORDER, type Severity } from '../../nouns/notification.ts'
import { Choice } from '../../parts/choice.tsx'
import { targetName } from '../../parts/target-name.ts'
import { targets as known } from '../../wire/packages.ts'
import { notificationWords } from './words.ts'

interface ToldProps {
  events: readonly EventName[]
  targets: ChannelDraft['targets']
  set(part: Partial<ChannelDraft>): void
  wrong: Readonly<Record<string, string>>
}

/** The events that a channel gets, by severity, and the targets that they may be of. */
export function Told({ events, targets, set, wrong }: ToldProps) {
  const say = notificationWords().edition
  return (
    <>
      <fieldset class="events">
        <legend>{say.events}</legend>
        <p class="hint dim">{say.eventsNote}</p>
        {ORDER.map((severity) => (
          <Group key={severity} severity={severity} chosen={events} set={(next) => set({ events: next })} />
        ))}
        {wrong.events && <p class="wrong">{say.noEvents}</p>}
      </fieldset>
      <Targets targets={targets} set={(next) => set({ targets: next })} isWrong={isWrong(wrong)} />
    </>
  )
}

function isWrong(wrong: Readonly<Record<string, string>>): boolean {
  return Object.keys(wrong).some((field) => field === 'targets' || field.startsWith('targets.'))
}

interface GroupProps {
  severity: Severity
  chosen: readonly EventName[]
  set(next: readonly EventName[]): void
}

/** The events of a severity, and a box for all of them. */
function Group({ severity, chosen, set }: GroupProps) {
  const say = notificationWords()
  const all = eventsOf(severity)
  const count = all.filter((name) => chosen.includes(name)).length
  const without = (some: readonly EventName[]) => chosen.filter((name) => !some.includes(name))
  return (
    <div class="event-group">
      <label class="tick">
        <input
          type="checkbox"
          checked={count === all.length}
          ref={(box) => {
            if (box) box.indeterminate = count > 0 && count < all.length
          }}
          aria-label={say.edition.allOf(say.severities[severity])}
          onChange={({ currentTarget }) => set(currentTarget.checked ? [...without(all), ...all] : without(all))}
        />
        <span>
          <b>{say.severities[severity]}</b>
          {severity === 'critical' && <span class="hint dim">{say.edition.passesQuiet}</span>}
        </span>
      </label>
      <ul>
        {all.map((name) => (
          <li key={name}>
            <label class="tick">
              <input
                type="checkbox"
                checked={chosen.includes(name)}
                onChange={({ currentTarget }) => set(currentTarget.checked ? [...chosen, name] : without([name]))}
              />
              <span>{say.events[name]}</span>
            </label>
          </li>
        ))}
      </ul>
    </div>
  )
}

interface TargetsProps {
  targets: ChannelDraft['targets']
  set(next: ChannelDraft['targets']): void
  isWrong: boolean
}

function Targets({ targets, set, isWrong }: TargetsProps) {
  const say = notificationWords().edition
  const chosen = targets === 'all' ? [] : targets
  // A target that is gone stays until somebody takes it out.
  const all = [...new Set([...(known.value ?? []).map(({ id }) => id), ...chosen])]
  return (
    <div class="field">
      <Choice
        label={say.targets}
        value={targets === 'all' ? 'all' : 'some'}
        of={say.targetsOf}
        choose={(next) => set(next === 'all' ? 'all' : chosen)}
      />
      <p class="hint dim">{say.targetsHint}</p>
      {targets !== 'all' && (
        <ul class="target-boxes" aria-label={say.targets}>
          {all.map((target) => (
            <li key={target}>
              <label class="tick">
                <input
                  type="checkbox"
                  checked={chosen.includes(target)}
                  onChange={({ currentTarget }) =>
                    set(currentTarget.checked ? [...chosen, target] : chosen.filter((each) => each !== target))
                  }
                />
                <span class="cut" title={targetName(target)}>
                  {targetName(target)}
                </span>
              </label>
            </li>
          ))}
        </ul>
      )}
      {isWrong && <p class="wrong">{say.noTargets}</p>}
    </div>
  )
}
