import type { OrderedSchedule } from '../../db/schedules/schedules.ts'
import { timestamp } from '../../platform/clock.ts'
import { comingTimes } from './schedule.ts'

/**
 * The groups of the list in their order. Three of them need somebody: the service has paused the schedule, its newest run stopped, or its
 * newest time was missed or ran out of its window. A person has paused those of the last group.
 */
const BARRED = 0
const BROKEN = 1
const TROUBLE = 2
const RUNNING = 3
const WELL = 4
const PAUSED = 5

const OF_NEWEST: Readonly<Record<string, number>> = { stopped: BROKEN, missed: TROUBLE, window_closed: TROUBLE }

/** The place of a schedule, by its newest run. */
function rankOf({ enabled, barred, newest }: Pick<OrderedSchedule, 'enabled' | 'barred' | 'newest'>): number {
  // A run that has begun goes on when its schedule is paused.
  if (newest === 'running') return RUNNING
  if (!enabled) return barred ? BARRED : PAUSED
  return (newest !== null && OF_NEWEST[newest]) || WELL
}

/** A place in the list. It is whole in itself, so that a page goes on after a schedule that was removed meanwhile. */
interface Place {
  rank: number
  id: string
  name: string
}

/** A place as a text. */
export const PLACE = /^([0-5]) ([\w-]+) (.+)$/

function placeIn(text: string): Place | undefined {
  const [, rank, id, name] = PLACE.exec(text) ?? []
  return id === undefined || name === undefined ? undefined : { rank: Number(rank), id, name }
}

export function placeText({ rank, id, name }: Place): string {
  return `${rank} ${id} ${name}`
}

/** Made at the first comparison: the first collator of a process takes 6 ms, which every start would spend. */
let names: Intl.Collator | undefined

function byPlace(one: Place, other: Place): number {
  names ??= new Intl.Collator('fr', { sensitivity: 'base', numeric: true })
  return (
    one.rank - other.rank || names.compare(one.name, other.name) || (one.id < other.id ? -1 : Number(one.id > other.id))
  )
}

/** All schedules in the order of their list, and what is told of all of them. */
export interface Order {
  places: readonly Place[]
  /** How many need somebody. */
  need: number
  /** The schedule that is due next. */
  soonest: { id: string; name: string; at: string } | null
}

export function orderOf(rows: readonly OrderedSchedule[], now: Date): Order {
  const places = rows.map((row) => ({ rank: rankOf(row), id: row.id, name: row.name })).sort(byPlace)
  const due = rows.flatMap((row) => {
    const at = row.enabled ? nextOf(row, now) : undefined
    return at === undefined ? [] : [{ id: row.id, name: row.name, at }]
  })
  const [soonest = null] = due.sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)))
  return { places, need: places.filter(({ rank }) => rank <= TROUBLE).length, soonest }
}

/** The stored time, which costs nothing; until a time that has come is taken, that is the one before. */
function nextOf(row: OrderedSchedule, now: Date): string | undefined {
  if (row.next_ms !== null && row.next_ms > now.getTime()) return timestamp(new Date(row.next_ms))
  return comingTimes(row, now, 1)[0]
}

/** The places after `after` whose names have `q`, whatever the case and the accents. */
export function placesAfter(
  places: readonly Place[],
  after: string | undefined,
  q: string | undefined,
): readonly Place[] {
  const from = after === undefined ? undefined : placeIn(after)
  const wanted = plain(q ?? '').trim()
  return places.filter((each) => (from === undefined || byPlace(each, from) > 0) && plain(each.name).includes(wanted))
}

/** A text without its accents and its case. */
function plain(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()
}
