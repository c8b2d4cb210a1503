import { cronSaid } from '../../nouns/cron.ts'
import { duration, instant } from '../../nouns/format.ts'
import { tallyOf, type RunWave, type WaveTargets } from '../../nouns/schedule.ts'
import type { Settings } from '../../nouns/schedule-form.ts'
import { isOtherZone, whenSaid } from '../../nouns/when.ts'
import { schedules } from '../../words/fr/schedules.ts'
import { language, laterWords, words } from '../../words/words.ts'
import { targetName } from '../target-name.ts'
import { now } from '../time.tsx'

/** The texts about schedules, in the user's language. They load with the pages that show them. */
export function scheduleWords(): typeof schedules {
  return laterWords()?.schedules ?? schedules
}

/** A time in words: “tonight 02:30”. `at` is RFC 3339, or ms since 1970. */
export function whenOf(at: string | number): string {
  const ms = instant(at)
  return ms === undefined ? '—' : whenSaid(ms, now.value, scheduleWords().when, language())
}

/** A duration in minutes: “2 h”. */
export function minutesSaid(minutes: number): string {
  return duration(minutes * 60, words().shell.units)
}

/** The work of a schedule in some sentences. Its time zone is named where it is not the reader's. */
export function settingsSaid(settings: Omit<Settings, 'name' | 'enabled'>): string {
  const { sentence } = scheduleWords()
  const { action, only, waves, on_failure: onFailure, reboot, window_minutes: window } = settings
  const when = `${rhythmSaid(settings)}${sentence.during(minutesSaid(window))}`
  if (action === 'check') return `${when} ${sentence.check}`
  return [
    when,
    sentence.upgrade(only === 'security', waves.length),
    ...(waves.length > 1 || onFailure === 'continue' ? [sentence[onFailure]] : []),
    ...(reboot === 'if_required' ? [sentence.reboot] : []),
  ].join(' ')
}

/** “Every night at 02:30”, with the time zone where it is not the reader's. */
export function rhythmSaid({ cron, timezone }: Pick<Settings, 'cron' | 'timezone'>): string {
  const { sentence, rhythm } = scheduleWords()
  const zone = isOtherZone(timezone, now.peek()) ? timezone : undefined
  return sentence.when(cronSaid(cron, rhythm, language()), zone)
}

/** The name of a target of a wave: a container, the host, or a tag. */
export function waveTargetName(target: string): string {
  const say = scheduleWords()
  if (target === 'rest') return say.rest
  return target.startsWith('tag:') ? say.tag(target.slice('tag:'.length)) : targetName(target)
}

/** The targets of a wave in one line. */
export function waveSaid(targets: WaveTargets): string {
  const all = targets === 'rest' ? ['rest'] : targets
  return all.map(waveTargetName).join(', ')
}

/** The ends of a run's targets: “3 upgraded, 1 broken”; empty while nothing is known. */
export function tallySaid(waves: readonly Pick<RunWave, 'jobs'>[]): string {
  const { counts } = scheduleWords()
  return tallyOf(waves)
    .map(({ fate, count }) => counts[fate](count))
    .join(', ')
}
