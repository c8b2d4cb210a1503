import * as z from 'zod'
import { DETAILS, type EventName, type Severity } from './event.ts'
import { cut, lastLines } from './plain.ts'
import type { Told, Words } from './words.ts'
import { en } from './words-en.ts'
import { fr } from './words-fr.ts'

export const LANGUAGES = ['fr', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

/** An event as it was stored. `details` has the shape that `DETAILS` gives it. */
export interface ToldEvent {
  id: number
  /** RFC 3339. */
  at: string
  event: EventName
  severity: Severity
  target: string | null
  run: string | null
  details: unknown
}

/** The text of a notice. `link` is an address of the panel; null where the panel’s origin is not known. */
export interface Message {
  title: string
  text: string
  link: string | null
  severity: Severity
  event: EventName
}

/**
 * The manner of a message. `publicUrl` is the origin of the panel, without a slash at its end; empty makes the link a path.
 * `outputs` has the outputs of failed jobs by their ids. `counts` is needed where `events` are only the first of a notice:
 * how many events of each kind it has. `host` is the name of the host, where it is known.
 */
export interface Manner {
  language: Language
  publicUrl: string | undefined
  outputs?: ReadonlyMap<string, string>
  counts?: ReadonlyMap<EventName, number>
  host?: string | undefined
}

const WORDS: Readonly<Record<Language, Words>> = { fr, en }

/** The worst first, in a message and in the choice of its title. */
export const WORST_FIRST: readonly EventName[] = [
  'rollback_failed',
  'regressed',
  'schedule_stopped',
  'host_unreachable',
  'upgrade_failed',
  'rolled_back',
  'module_taken_out',
  'sign_in_from_new_address',
  'security_updates_available',
  'disk_low',
  'check_failed',
  'schedule_missed',
  'reboot_required',
  'upgrade_done',
  'updates_available',
  'settings_changed',
]

/** Events of which a message of several has a line each. */
export const MOST_LINES = 20
/** Kinds of events, beside the worst, that a title counts. */
const MOST_COUNTED = 3
const LONGEST_TITLE = 200
const LONGEST_LINE = 400
/** Jobs whose outputs a message has, lines of each, and their characters. */
const MOST_OUTPUTS = 3
const OUTPUT_LINES = 20
const OUTPUT_CHARACTERS = 2_048
const FAILED: ReadonlySet<EventName> = new Set(['upgrade_failed', 'regressed', 'rolled_back', 'rollback_failed'])

/**
 * Composes the message of a notice from its events, of which there is at least one: what happened where, what is lost,
 * what to do, and the address that helps.
 */
export function composeMessage(events: readonly ToldEvent[], manner: Manner): Message {
  const words = WORDS[manner.language]
  const ranked = withoutRepeated(events.map((event) => named(event, manner.host))).sort(
    (one, other) => rank(one) - rank(other) || one.id - other.id,
  )
  const [worst] = ranked
  if (!worst) throw new TypeError('a notice without events')
  const counts = manner.counts ?? countsOf(ranked)
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const told = ranked.slice(0, MOST_LINES).map((event) => tell(words, event))
  const isOne = total === 1
  const body = isOne
    ? bodyOf(told[0])
    : [...told.map(lineOf), ...(total > told.length ? [words.more(total - told.length)] : [])]
  const advice = isOne ? [] : adviceOf(told)
  const outputs = outputsOf(ranked, words, manner.outputs)
  return {
    title: cut(titleOf(worst, counts, words), LONGEST_TITLE),
    text: [...body, ...advice, ...outputs, `(${words.at(worst.at, zoneOf(worst))})`].join('\n'),
    link: manner.publicUrl === undefined ? null : `${manner.publicUrl}${pathOf(ranked, counts)}`,
    severity: worst.severity,
    event: worst.event,
  }
}

function rank({ event }: ToldEvent): number {
  return WORST_FIRST.indexOf(event)
}

/** Leaves out the updates of a target whose security updates are told, because both count all of them. */
function withoutRepeated(events: readonly ToldEvent[]): ToldEvent[] {
  const secured = new Set(
    events.flatMap(({ event, target }) => (event === 'security_updates_available' ? [target] : [])),
  )
  return events.filter(({ event, target }) => event !== 'updates_available' || !secured.has(target))
}

function countsOf(events: readonly ToldEvent[]): Map<EventName, number> {
  const counts = new Map<EventName, number>()
  for (const { event } of events) counts.set(event, (counts.get(event) ?? 0) + 1)
  return counts
}

function tell(words: Words, { event, target, details }: ToldEvent): Told {
  // Details of a later version may have another shape.
  return words.events[event](details, target) ?? { title: words.counted[event](1), lines: [] }
}

const Unnamed = z.looseObject({ name: z.literal('') })

/** Gives an event of the host its name: it is stored without one. */
function named(event: ToldEvent, host: string | undefined): ToldEvent {
  const isOfHost = event.target === 'host' || event.event === 'host_unreachable'
  const { data } = Unnamed.safeParse(isOfHost && host !== undefined ? event.details : undefined)
  return data ? { ...event, details: { ...data, name: host } } : event
}

const Zoned = z.object({ timezone: z.string() })
const OfSchedule = z.object({ schedule: Zoned })

/** The time zone of the schedule that an event tells of, else UTC. */
function zoneOf({ details }: ToldEvent): string {
  const own = Zoned.safeParse(details).data
  return (own ?? OfSchedule.safeParse(details).data?.schedule)?.timezone ?? 'UTC'
}

function titleOf(worst: ToldEvent, counts: ReadonlyMap<EventName, number>, words: Words): string {
  const count = counts.get(worst.event) ?? 1
  const first = count === 1 ? tell(words, worst).title : capital(words.counted[worst.event](count))
  const others = WORST_FIRST.flatMap((event) => {
    const of = event === worst.event ? 0 : (counts.get(event) ?? 0)
    return of > 0 ? [words.counted[event](of)] : []
  })
  return [first, ...others.slice(0, MOST_COUNTED)].join(words.and)
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

function bodyOf(told: Told | undefined): string[] {
  return told ? [...told.lines.map((line) => cut(line, LONGEST_LINE)), ...(told.advice ? [told.advice] : [])] : []
}

/** An event as one line of a message of several. */
function lineOf({ title, lines }: Told): string {
  return cut(`- ${[title, ...lines].join(' — ')}`, LONGEST_LINE)
}

/** The advice about the worst event alone: the one thing to do first. */
function adviceOf([worst]: readonly Told[]): string[] {
  return worst?.advice ? [worst.advice] : []
}

function outputsOf(events: readonly ToldEvent[], words: Words, outputs: Manner['outputs']): string[] {
  if (!outputs) return []
  const told = events.flatMap(({ event, target, details }) => {
    const { data } = DETAILS.upgrade_failed.safeParse(FAILED.has(event) ? details : undefined)
    const lines = data && lastLines(outputs.get(data.job) ?? '', OUTPUT_LINES, OUTPUT_CHARACTERS)
    return data && lines && lines.length > 0 ? [['', words.output(words.place(data.name, target)), ...lines]] : []
  })
  return told.slice(0, MOST_OUTPUTS).flat()
}

/** The page that helps: of the worst event where it is the only one of its kind, else the one that has them all. */
function pathOf(events: readonly ToldEvent[], counts: ReadonlyMap<EventName, number>): string {
  const [worst] = events
  if (!worst) return '/'
  const own = ownPath(worst)
  if (counts.get(worst.event) === 1 || events.every((event) => ownPath(event) === own)) return own
  const { data } = DETAILS.upgrade_done.safeParse(worst.details)
  if (data?.schedule) return runPath(data.schedule.run)
  return data && worst.run !== null ? `/runs/${encodeURIComponent(worst.run)}` : own
}

function ownPath({ event, details }: ToldEvent): string {
  switch (event) {
    case 'upgrade_done':
    case 'upgrade_failed':
    case 'regressed':
    case 'rolled_back':
    case 'rollback_failed': {
      const { data } = DETAILS[event].safeParse(details)
      return data ? `/updates/${encodeURIComponent(data.job)}` : '/updates'
    }
    case 'schedule_missed':
    case 'schedule_stopped': {
      const { data } = DETAILS[event].safeParse(details)
      return data?.run ? runPath(data.run) : '/schedules'
    }
    case 'sign_in_from_new_address':
      return '/audit'
    case 'settings_changed':
      return '/settings'
    case 'module_taken_out':
      return '/modules'
    default:
      return '/updates'
  }
}

function runPath(run: string): string {
  return `/schedules/runs/${encodeURIComponent(run)}`
}
