/*
 * The messages of a module's frame. They come from code that the panel does not trust, so they are copied piece by
 * piece, up to a bound.
 */

/** The most characters of a message. */
const MAX_CHARS = 64 * 1024
const MAX_DEPTH = 20
const MAX_ID = 100
const HEIGHT = { least: 40, most: 10_000 }

export type FrameMessage =
  | { height: number }
  | { id: string | number; call: string; params: Values; query: Values; body: unknown }
  | { id: string | number; refused: 'invalid' }

type Values = Readonly<Record<string, string | number | boolean>>

/** Parses a message; undefined for what is none, which needs no answer. */
export function frameMessage(data: unknown): FrameMessage | undefined {
  const given = fieldsOf(data)
  if (given?.panel !== 1) return undefined
  const { id, height } = given
  if (typeof height === 'number' && Number.isFinite(height))
    return { height: Math.min(HEIGHT.most, Math.max(HEIGHT.least, Math.ceil(height))) }
  if (!(typeof id === 'number' || (typeof id === 'string' && id.length <= MAX_ID))) return undefined
  const { call, params = {}, query = {}, body } = given
  const room = { left: MAX_CHARS }
  const copied = [copy(params, room, 0), copy(query, room, 0), body === undefined ? undefined : copy(body, room, 0)]
  const [named, asked, sent] = copied
  if (
    typeof call !== 'string' ||
    call.length > MAX_ID * 3 ||
    copied.includes(REFUSED) ||
    !isFlat(named) ||
    !isFlat(asked)
  )
    return { id, refused: 'invalid' }
  return { id, call, params: named, query: asked, body: sent }
}

const REFUSED = Symbol('refused')

/** Copies JSON alone; anything else, such as a file or a cycle, is refused, and so is what has no room. */
function copy(value: unknown, room: { left: number }, depth: number): unknown {
  room.left -= typeof value === 'string' ? value.length + 2 : 5
  if (room.left < 0 || depth > MAX_DEPTH) return REFUSED
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : REFUSED
  if (Array.isArray(value)) {
    const list: unknown[] = []
    if (value.length > MAX_CHARS) return REFUSED
    for (const each of value) {
      const copied = copy(each, room, depth + 1)
      if (copied === REFUSED) return REFUSED
      list.push(copied)
    }
    return list
  }
  const fields = fieldsOf(value)
  if (!fields) return REFUSED
  const object: Record<string, unknown> = {}
  for (const [name, each] of Object.entries(fields)) {
    room.left -= name.length + 3
    const copied = each === undefined ? undefined : copy(each, room, depth + 1)
    if (copied === REFUSED || name === '__proto__') return REFUSED
    if (copied !== undefined) object[name] = copied
  }
  return object
}

function fieldsOf(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return Object.getPrototypeOf(value) === Object.prototype ? { ...value } : undefined
}

function isFlat(value: unknown): value is Values {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((each) => ['string', 'number', 'boolean'].includes(typeof each))
  )
}
