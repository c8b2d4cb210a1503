/** The hours of a day in which a channel is quiet, by the clock of a time zone. */
export interface Quiet {
  /** `HH:MM`, included. */
  from: string
  /** `HH:MM`, not included. */
  to: string
  timezone: string
}

const MINUTE = 60_000
const DAY_MINUTES = 1_440
/** Clocks are changed at whole quarters of an hour of UTC: every zone's offset is a multiple of one. */
const QUARTER = 15 * MINUTE
/** Steps of a quarter that last longer than any quiet time. */
const MOST_STEPS = 120

/** Making a format takes a hundred times longer than using it. */
const formats = new Map<string, Intl.DateTimeFormat>()
/** More zones than the channels have. */
const MOST_FORMATS = 100

/** Whether the name is that of a time zone. An offset such as `+01:00` is none: it knows no change of the clock. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/**
 * Returns the time at which the quiet hours around `now` end; undefined when it is not quiet. It follows the wall clock: a
 * night of the clock change is an hour shorter or longer.
 */
export function quietUntil({ from, to, timezone }: Quiet, now: Date): Date | undefined {
  const [begin, end] = [minutesOf(from), minutesOf(to)]
  const isQuiet = (wall: number) => (begin <= end ? begin <= wall && wall < end : wall >= begin || wall < end)
  let at = Math.floor(now.getTime() / MINUTE) * MINUTE
  let wall = wallMinutes(at, timezone)
  if (!isQuiet(wall)) return undefined
  for (let step = 0; step < MOST_STEPS && isQuiet(wall); step += 1) {
    const left = ((end - wall + DAY_MINUTES) % DAY_MINUTES) * MINUTE
    // A step over a change of the clock could pass the end.
    at = Math.min(at + left, (Math.floor(at / QUARTER) + 1) * QUARTER)
    wall = wallMinutes(at, timezone)
  }
  return new Date(at)
}

function minutesOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number)
  return hours * 60 + minutes
}

/** The minutes since midnight that the clocks of a zone show. */
function wallMinutes(at: number, timezone: string): number {
  if (formats.size > MOST_FORMATS) formats.clear()
  const format =
    formats.get(timezone) ??
    new Intl.DateTimeFormat('en-GB', { timeZone: timezone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  formats.set(timezone, format)
  return minutesOf(format.format(new Date(at)))
}
