/** The refused fields, such as `waves.0.targets`, whose values are still the ones that were sent. */
export function stillRefused(
  errors: Readonly<Record<string, string>>,
  { sent, typed }: { sent: unknown; typed: unknown },
): Readonly<Record<string, string>> {
  const isSame = (field: string) => JSON.stringify(valueAt(sent, field)) === JSON.stringify(valueAt(typed, field))
  return Object.fromEntries(Object.entries(errors).filter(([field]) => isSame(field)))
}

function valueAt(of: unknown, field: string): unknown {
  let value = of
  for (const step of field.split('.')) {
    if (typeof value !== 'object' || value === null) return value
    value = Reflect.get(value, step)
  }
  return value
}
