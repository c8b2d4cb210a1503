import type { Check } from './checked.ts'
import { clockOf, clockSaid, cronOf, MOST_DATE, presetOf } from './cron.ts'
import { isSecurityUnknown, unableTo } from './manager.ts'
import type { Schedule, WaveTargets } from './schedule.ts'

/** A schedule as people set it, without its times and runs. */
export type Settings = Pick<
  Schedule,
  'name' | 'enabled' | 'cron' | 'timezone' | 'window_minutes' | 'action' | 'only' | 'waves' | 'on_failure' | 'reboot'
>

/** A wave in the form. `key` stays with it when it moves. */
export interface WaveDraft {
  key: number
  targets: WaveTargets
  pause: string
}

export const REPEATS = ['day', 'week', 'month', 'cron'] as const
export type Repeats = (typeof REPEATS)[number]

/** A schedule as the form has it: numbers and times as somebody types them. */
export interface Draft {
  name: string
  enabled: boolean
  repeats: Repeats
  time: string
  /** From 0 for Sunday. */
  weekday: number
  date: number
  cron: string
  timezone: string
  window: string
  action: Settings['action']
  only: Settings['only']
  waves: readonly WaveDraft[]
  on_failure: Settings['on_failure']
  reboot: Settings['reboot']
}

/** The change of the address that is called: undefined leaves it as it is, null removes it. */
export type PingChange = string | null | undefined

/** Most waves of a schedule. */
export const MOST_WAVES = 20
const FIRST: Settings = {
  name: '',
  enabled: true,
  cron: '30 2 * * *',
  timezone: 'UTC',
  window_minutes: 120,
  action: 'upgrade',
  only: 'all',
  waves: [{ targets: 'rest', pause_minutes: 0 }],
  on_failure: 'stop',
  reboot: 'never',
}

/** The form of a new schedule: every night, all containers. */
export function newDraft(timezone: string): Draft {
  return draftOf({ ...FIRST, timezone })
}

export function draftOf(settings: Settings): Draft {
  const preset = presetOf(settings.cron)
  const { name, enabled, cron, timezone, window_minutes, action, only, on_failure, reboot } = settings
  return {
    name,
    enabled,
    repeats: preset?.kind ?? 'cron',
    time: clockSaid(preset?.at ?? { hour: 2, minute: 30 }),
    weekday: preset?.kind === 'week' ? preset.on : 0,
    date: preset?.kind === 'month' ? preset.on : 1,
    cron,
    timezone,
    window: `${window_minutes}`,
    action,
    only,
    waves: settings.waves.map(({ targets, pause_minutes }, key) => ({ key, targets, pause: `${pause_minutes}` })),
    on_failure,
    reboot,
  }
}

/** The pattern that the form says. */
export function cronIn({ repeats, time, weekday, date, cron }: Draft): string {
  const at = clockOf(time)
  if (repeats === 'cron') return cron.trim()
  // The service says what is wrong with it.
  if (!at) return ''
  return cronOf({ kind: repeats, at, on: repeats === 'week' ? weekday : Math.min(date, MOST_DATE) })
}

/** The settings that the form says. The service refuses what is not a number. */
export function settingsIn(draft: Draft): Settings {
  const { name, enabled, timezone, window, action, only, waves, on_failure, reboot } = draft
  return {
    name: name.trim(),
    enabled,
    cron: cronIn(draft),
    timezone: timezone.trim(),
    window_minutes: numberIn(window),
    action,
    // A check looks at everything and changes nothing.
    only: action === 'check' ? 'all' : only,
    waves: waves.map(({ targets, pause }) => ({ targets, pause_minutes: numberIn(pause) })),
    on_failure,
    reboot: action === 'check' || !namesHost(waves) ? 'never' : reboot,
  }
}

/** The settings that differ from the stored ones. */
export function changesIn(draft: Draft, stored: Settings): Partial<Settings> {
  const typed = settingsIn(draft)
  const before = settingsIn(draftOf(stored))
  return Object.fromEntries(
    Object.entries(typed).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(Reflect.get(before, name)),
    ),
  )
}

/** The first wave that never begins, from 0: the pauses before it last as long as the window, or longer. */
export function outOfReach({
  waves,
  window_minutes: window,
}: Pick<Settings, 'waves' | 'window_minutes'>): number | undefined {
  let waited = 0
  for (const [n, { pause_minutes: pause }] of waves.slice(0, -1).entries()) {
    waited += pause
    if (waited >= window) return n + 1
  }
  return undefined
}

/**
 * The targets that a schedule of security updates alone leaves out: their package manager cannot choose those, or nobody
 * marks them.
 */
export function withoutMarks(
  { action, only, waves }: Pick<Settings, 'action' | 'only' | 'waves'>,
  checks: readonly Check[],
): Check[] {
  if (action !== 'upgrade' || only !== 'security') return []
  const named = new Set(waves.flatMap(({ targets }) => (targets === 'rest' ? [] : targets)))
  const hasRest = waves.some(({ targets }) => targets === 'rest')
  const isIn = ({ target, state }: Check) => named.has(target) || (hasRest && target !== 'host' && state !== 'stopped')
  const isLeft = (check: Check) => unableTo('security', check) !== undefined || isSecurityUnknown(check)
  return checks.filter((check) => isIn(check) && isLeft(check))
}

/** Whether a wave names the host: only then it may be restarted. */
export function namesHost(waves: readonly { targets: WaveTargets }[]): boolean {
  return waves.some(({ targets }) => targets !== 'rest' && targets.includes('host'))
}

/** −1, which no field allows, for what is no whole number. */
function numberIn(text: string): number {
  return /^\s*\d{1,6}\s*$/.test(text) ? Number(text) : -1
}

/** Moves the wave at `from` to `to`. */
export function moved(waves: readonly WaveDraft[], from: number, to: number): readonly WaveDraft[] {
  const wave = waves[from]
  return wave ? waves.toSpliced(from, 1).toSpliced(to, 0, wave) : waves
}

/** Adds an empty wave. The one before it is followed by a pause, so that harm shows before the next begins. */
export function withWave(waves: readonly WaveDraft[]): readonly WaveDraft[] {
  const key = Math.max(-1, ...waves.map((wave) => wave.key)) + 1
  const before = waves.map((wave, n) =>
    n === waves.length - 1 && wave.pause.trim() === '0' ? { ...wave, pause: '15' } : wave,
  )
  return [...before, { key, targets: [], pause: '0' }]
}

/** Puts a target into a wave; `rest` takes the place of everything in it. */
export function withTarget(waves: readonly WaveDraft[], at: number, target: string): readonly WaveDraft[] {
  return waves.map((wave, n) => {
    if (n !== at) return wave
    if (target === 'rest') return { ...wave, targets: 'rest' }
    const before = wave.targets === 'rest' ? [] : wave.targets
    return before.includes(target) ? wave : { ...wave, targets: [...before, target] }
  })
}

export function withoutTarget(waves: readonly WaveDraft[], at: number, target: string): readonly WaveDraft[] {
  return waves.map((wave, n) => {
    if (n !== at) return wave
    return { ...wave, targets: wave.targets === 'rest' ? [] : wave.targets.filter((each) => each !== target) }
  })
}

/** The targets that a wave may still get: each may stand in one wave alone. */
export function freeTargets(waves: readonly WaveDraft[], known: readonly string[]): string[] {
  const taken = new Set(waves.flatMap(({ targets }) => (targets === 'rest' ? ['rest'] : targets)))
  return known.filter((target) => !taken.has(target))
}
