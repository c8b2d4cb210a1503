/** The present moment; tests hold it still. */
export type Clock = () => Date

/** A moment as the service writes it: RFC 3339, UTC, milliseconds. */
export function timestamp(moment: Date): string {
  return moment.toISOString()
}
