/** The cards in the order that somebody has given them; new ones keep their place at the end. */
export function arranged<id extends string>(all: readonly id[], order: readonly string[]): id[] {
  const given = order.flatMap((id) => all.find((each) => each === id) ?? [])
  const known = [...new Set(given)]
  return [...known, ...all.filter((id) => !known.includes(id))]
}

/** With one moved by so many places. */
export function moved<id>(order: readonly id[], one: id, by: number): id[] {
  const from = order.indexOf(one)
  const to = Math.min(order.length - 1, Math.max(0, from + by))
  if (from < 0 || from === to) return [...order]
  const rest = order.filter((id) => id !== one)
  return [...rest.slice(0, to), one, ...rest.slice(to)]
}
