/** Stands in place of a secret. */
const HIDDEN = '•••'
/** A shorter rest of a cut text could be anything. */
const TELLING = 4

/**
 * Returns a function that removes secrets from a foreign text: as they are, and in each encoding in which a receiver
 * sends back what it got. `cut` says that the text may end in the middle of a secret.
 */
export function redaction(
  secrets: readonly (string | undefined)[],
): (text: string, options?: { cut?: boolean }) => string {
  const forms = [...new Set(secrets.flatMap((each) => (each ? formsOf(each) : [])))].sort((a, b) => b.length - a.length)
  if (forms.length === 0) return (text) => text
  const any = new RegExp(forms.map(escaped).join('|'), 'gi')
  return (text, { cut = false } = {}) => {
    const whole = text.replace(any, HIDDEN)
    const rest = cut ? Math.max(...forms.map((form) => beginningAtEnd(whole, form))) : 0
    return rest === 0 ? whole : whole.slice(0, -rest) + HIDDEN
  }
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  // A lone surrogate has no URL encoding; UTF-8 replaces it.
  const url = encodeURIComponent(bytes.toString())
  const json = JSON.stringify(secret).slice(1, -1)
  const html = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const base64 = [0, 1, 2].flatMap((before) => {
    const within = base64Within(bytes, before)
    return [within, within.replaceAll('+', '-').replaceAll('/', '_')]
  })
  return [
    secret,
    url,
    url.replaceAll('%20', '+'),
    json,
    json.replaceAll('/', '\\/'),
    html,
    html.replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
    html.replaceAll('"', '&#34;').replaceAll("'", '&#39;'),
    bytes.toString('hex'),
    bytes.toString('base64'),
    ...base64.filter((form) => form.length >= TELLING),
  ]
}

/** The base64 digits that depend on these bytes alone, when `before` other bytes (modulo 3) stand in front of them. */
function base64Within(bytes: Buffer, before: number): string {
  const digits = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replaceAll('=', '')
  const [first, last] = [Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)]
  return digits.slice(first, last)
}

/** How many characters at the end of a text are the beginning of a form. */
function beginningAtEnd(text: string, form: string): number {
  const [lower, sought] = [text.toLowerCase(), form.toLowerCase()]
  for (let length = Math.min(form.length - 1, text.length); length >= TELLING; length -= 1)
    if (lower.endsWith(sought.slice(0, length))) return length
  return 0
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
