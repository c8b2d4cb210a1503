/** Returns the current time; tests use a fixed one. */
export type Clock = () => Date

/** Formats a time as the service writes it: RFC 3339, UTC, milliseconds. */
export function timestamp(moment: Date): string {
  return moment.toISOString()
}
