/** A sum of sizes, of which some may be unknown. */
export interface Sum {
  known: number
  isWhole: boolean
}

export function newSum(): Sum {
  return { known: 0, isWhole: true }
}

export function add(sum: Sum, bytes: number | null): void {
  sum.known += bytes ?? 0
  sum.isWhole &&= bytes !== null
}

/** Returns null for a sum that lacks a part. */
export function totalOf({ known, isWhole }: Sum): number | null {
  return isWhole && Number.isSafeInteger(known) ? known : null
}
