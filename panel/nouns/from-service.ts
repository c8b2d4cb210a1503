import type { Lines } from './lines.ts'

/** A sentence with `{}` where something stands in it, and what it is in another language, where `{2}` is the second of them. */
export type Pair = readonly [from: string, to: string]

/** The service writes no more in a sentence; the host may, and is not searched for any. */
const MOST_CHARS = 2_000
/** A sentence in a sentence in a sentence. */
const DEPTH = 3

/**
 * What the service has said, in the language of these pairs; as it is where there is none for it. What stands in a sentence is
 * translated as well, where it is one. Takes as long as the text is: it may come from anywhere.
 */
export function createTranslation(pairs: readonly Pair[]): (text: string) => string {
  const sentences = pairs.map(([from, to]) => ({ parts: plain(from).split('{}'), to }))
  // What says more first: «le dépôt {} est vide» before «le dépôt {} {}».
  sentences.sort((one, other) => other.parts.join('').length - one.parts.join('').length)
  const whole = new Map(
    sentences.flatMap(({ parts, to }) => (parts.length === 1 ? [[parts[0] ?? '', to] as const] : [])),
  )
  const open = sentences.filter(({ parts }) => parts.length > 1)

  const translate = (text: string, depth: number): string => {
    if (text.length > MOST_CHARS) return text
    const said = plain(text)
    const same = whole.get(said)
    if (same !== undefined) return same
    for (const { parts, to } of depth > 0 ? open : []) {
      const found = gapsOf(said, parts)
      if (!found) continue
      let next = 0
      return to.replace(/\{(\d?)\}/g, (_, nth: string) => {
        const at = nth ? Number(nth) - 1 : next
        next = at + 1
        return translate(found[at] ?? '', depth - 1)
      })
    }
    return text
  }
  return (text) => translate(text, DEPTH)
}

/** What stands between these parts, of which the first begins the text and the last ends it. */
function gapsOf(text: string, parts: readonly string[]): string[] | undefined {
  const [first = '', ...others] = parts
  if (!text.startsWith(first)) return undefined
  const gaps: string[] = []
  let at = first.length
  for (const [n, part] of others.entries()) {
    const isLast = n === others.length - 1
    const next = isLast ? text.length - part.length : text.indexOf(part, at)
    if (next < at || !text.startsWith(part, next)) return undefined
    gaps.push(text.slice(at, next))
    at = next + part.length
  }
  return gaps
}

/** Spaces that do not break are spaces. */
function plain(text: string): string {
  return text.replace(/[\u00a0\u202f]/g, ' ').trim()
}

/** Lines that the service itself adds to the host's output; a line of the host's that looks the same means the same. */
const OF_SERVICE =
  /^(En attente de la fin de la tâche |Annulé par |Erreur SSH\s: |\[… \d+ octets omis|dpkg a été interrompu \(|dpkg n’a (rien laissé|pas fini)|L’état de dpkg n’a pas pu être lu)/

/** An output in which the lines of the service are in the language of who looks; those of the host are as they are. */
export function saidIn(lines: Lines, translate: (text: string) => string): Lines {
  const said = (text: string) => (OF_SERVICE.test(text) ? translate(text) : text)
  return {
    ...lines,
    at(index) {
      const line = lines.at(index)
      const text = said(line.text)
      return text === line.text ? line : { text }
    },
    text: () => lines.text().split('\n').map(said).join('\n'),
  }
}
