/** Bytes in the largest unit below them, three digits at most: “1,4 Gio”. `units` from bytes upwards, by 1024. */
export function bytes(count: number, units: readonly string[], language: string): string {
  const power = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(count) / 10))
  const value = count / 1024 ** power
  const digits = power === 0 || value >= 100 ? 0 : 1
  return `${new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value)}\u00a0${units[power]}`
}

/** A part of a whole, 0 to 1: “62 %”. */
export function percent(part: number, language: string): string {
  return new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 0 }).format(part)
}
