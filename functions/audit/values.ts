import type { AuditNote } from '../../runtime/context.ts'

type Details = NonNullable<AuditNote['details']>

/** Characters of a value in the audit log. */
const NOTED = 500

/** Returns values for an entry, as `name`: texts are cut, and lists and objects are JSON. The caller leaves out secrets. */
export function noted(values: object): Details {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, notedValue(value)]))
}

/** Returns what differs between two states for an entry, as `name_before` and `name_after`, in the form of `noted`. */
export function notedChange(before: object, after: object): Details {
  const [former, latter] = [
    new Map<string, unknown>(Object.entries(before)),
    new Map<string, unknown>(Object.entries(after)),
  ]
  const changed = [...new Set([...former.keys(), ...latter.keys()])].filter(
    (name) => JSON.stringify(former.get(name) ?? null) !== JSON.stringify(latter.get(name) ?? null),
  )
  return Object.fromEntries(
    changed.flatMap((name) => [
      [`${name}_before`, notedValue(former.get(name))],
      [`${name}_after`, notedValue(latter.get(name))],
    ]),
  )
}

function notedValue(value: unknown): Details[string] {
  if (value === undefined || value === null || typeof value === 'boolean' || typeof value === 'number')
    return value ?? null
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > NOTED ? `${text.slice(0, NOTED)}…` : text
}
