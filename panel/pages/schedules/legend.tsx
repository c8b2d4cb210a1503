import { RUN_STATES } from '../../nouns/schedule.ts'
import { ownZone } from '../../nouns/when.ts'
import { scheduleWords } from '../../parts/schedules/words.ts'

/** The meanings of the marks in a strip of runs. Screen readers get the word of each run instead. */
export function Legend() {
  const say = scheduleWords()
  return (
    <p class="strip-legend" aria-hidden="true">
      {RUN_STATES.map((state) => (
        <span key={state}>
          <i class={state} />
          {say.states[state]}
        </span>
      ))}
    </p>
  )
}

/** The time zone of the times on a page: the reader's own, whatever the zone of a schedule is. */
export function ZoneNote() {
  return <p class="dim small zone-note">{scheduleWords().inZone(ownZone())}</p>
}
