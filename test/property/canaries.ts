/** A secret that must not be found where it does not belong. */
export interface Canary {
  name: string
  bytes: Buffer
  /** For a secret without inner structure: no piece of this length may be found either. */
  piece?: { length: number; step: number }
}

export interface Finding {
  canary: string
  form: string
  /** The text around the secret, without the secret itself. */
  around: string
}

/** Shorter secrets would be found by chance. */
export const SHORTEST = 12

export function canary(name: string, value: string | Buffer, piece?: Canary['piece']): Canary {
  const bytes = Buffer.from(value)
  if (bytes.length < SHORTEST) throw new Error(`${name} has ${bytes.length} bytes: too few to be searched for`)
  return { name, bytes, ...(piece && { piece }) }
}

/** A password of which any eight consecutive characters are mostly random. */
export function password(name: string, value: string): Canary {
  return canary(name, value, { length: 8, step: 1 })
}

/** A UUID. Only pieces of 16 characters count: eight digits may also belong to another UUID, such as a request id. */
export function uuid(name: string, value: string): Canary {
  return canary(name, value, { length: 16, step: 1 })
}

/** A token, and its signature alone. Any 31 characters contain one of the pieces, which are 16 characters apart. */
export function token(name: string, value: string): Canary[] {
  const signature = value.split('.').at(-1) ?? ''
  return [canary(name, value), canary(`${name}’s signature`, signature, { length: 16, step: 16 })]
}

const percent = (byte: number) => `%${byte.toString(16).padStart(2, '0')}`
const upper = (text: string) =>
  text.replace(/%[0-9a-f]{2}|\\u[0-9a-f]{4}/g, (code) =>
    code.startsWith('%') ? code.toUpperCase() : `\\u${code.slice(2).toUpperCase()}`,
  )
const escaped = (text: string) => JSON.stringify(text).slice(1, -1)
const utf16 = (text: string) =>
  [...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

/**
 * Every encoding of a secret, by name. In Base64 the first and last characters also depend on neighbouring bytes, so
 * only those in between count: they are found inside a longer text, with or without padding.
 */
export function forms({ bytes, piece }: Canary): Map<string, Buffer> {
  const texts = new Map<string, string>()
  const hex = bytes.toString('hex')
  const pairs = hex.match(/../g) ?? []
  for (const [name, text] of [
    ['hex', hex],
    ['hex with colons', pairs.join(':')],
    ['hex with spaces', pairs.join(' ')],
  ] as const) {
    texts.set(name, text)
    texts.set(`${name}, upper case`, text.toUpperCase())
  }
  texts.set('a list of bytes', [...bytes].join(','))
  for (const shift of [0, 1, 2]) {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const first = [0, 2, 3][shift] ?? 0
    const middle = text.slice(first, (bytes.length + shift) % 3 === 0 ? undefined : -1)
    texts.set(`base64, shifted by ${shift}`, middle)
    texts.set(`base64url, shifted by ${shift}`, middle.replaceAll('+', '-').replaceAll('/', '_'))
  }
  const all = [...bytes].map(percent).join('')
  texts.set('every byte URL-encoded', all)
  texts.set('every byte URL-encoded, upper case', upper(all))
  const text = bytes.toString()
  if (Buffer.from(text).equals(bytes)) {
    texts.set('URL-encoded, upper case', encodeURIComponent(text))
    texts.set(
      'URL-encoded',
      encodeURIComponent(text).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    )
    texts.set('as a form', new URLSearchParams([['', text]]).toString().slice(1))
    texts.set('in JSON', escaped(text))
    texts.set('in JSON in JSON', escaped(escaped(text)))
    texts.set('in JSON, every character escaped', utf16(text))
    texts.set('in JSON, every character escaped, upper case', upper(utf16(text)))
    if (piece) {
      for (let at = 0; at + piece.length <= text.length; at += piece.step)
        texts.set(`${piece.length} characters from ${at} on`, text.slice(at, at + piece.length))
    }
  }
  return new Map([['raw', bytes], ...[...texts].map(([name, each]) => [name, Buffer.from(each)] as const)])
}

const AROUND = 60
/** JSON inside JSON doubles every backslash at each level. */
const flat = (text: string) => text.replace(/\\+/g, '\\')
const oneLine = (text: string) => text.replace(/\r?\n|\\r|\\n/g, '')

/** Finds every canary, in any encoding, however deeply escaped, also across lines. */
export function search(where: string | Buffer, canaries: readonly Canary[]): Finding[] {
  const whole = Buffer.from(where).toString('latin1')
  const flattened = flat(whole)
  const places = [flattened, oneLine(flattened)]
  return canaries.flatMap((each) =>
    [...forms(each)].flatMap(([form, bytes]) => {
      const exact = bytes.toString('latin1')
      const found = [whole, ...places].flatMap((place) => {
        const at = place.indexOf(place === whole ? exact : flat(exact))
        return at < 0 ? [] : [`${place.slice(Math.max(0, at - AROUND), at)}[…]`]
      })
      return found.slice(0, 1).map((around) => ({ canary: each.name, form, around }))
    }),
  )
}
