import type { Lines } from './lines.ts'
import { markSaid, type MarkWords } from './marks.ts'

/** A sentence with `{}` for inserted texts, and its translation, where `{2}` stands for the second inserted text. */
export type Pair = readonly [from: string, to: string]

/** Longer texts come from the host and are not translated. */
const MAX_CHARS = 2_000
/** The nesting limit of sentences inside sentences. */
const DEPTH = 3

/**
 * Creates a translation from these pairs; unknown texts stay unchanged. Sentences inside sentences are translated too. The time is linear
 * in the text, because a text may come from anywhere.
 */
export function createTranslation(pairs: readonly Pair[]): (text: string) => string {
  const sentences = pairs.map(([from, to]) => ({ parts: plain(from).split('{}'), to }))
  // Longer patterns first: «le dépôt {} est vide» before «le dépôt {} {}».
  sentences.sort((one, other) => other.parts.join('').length - one.parts.join('').length)
  const whole = new Map(
    sentences.flatMap(({ parts, to }) => (parts.length === 1 ? [[parts[0] ?? '', to] as const] : [])),
  )
  const open = sentences.filter(({ parts }) => parts.length > 1)

  const translate = (text: string, depth: number): string => {
    if (text.length > MAX_CHARS) return text
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

/** The texts between these parts; the first part must start the text and the last part must end it. */
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

/** Treats no-break spaces as spaces. */
function plain(text: string): string {
  return text.replace(/[\u00a0\u202f]/g, ' ').trim()
}

/** Lines that the service adds to the host's output. A line of the host that looks the same is translated too. */
const OF_SERVICE =
  /^(En attente de la fin de la tâche |Annulé par |Erreur SSH\s: |\[… \d+ octets omis|dpkg a été interrompu \(|(dpkg|apk|dnf|zypper|pacman|Aucun gestionnaire de paquets) n’a (rien laissé|pas fini|pas pu dire)|L’état de dpkg n’a pas pu être lu|L’hôte a redémarré\s: |Attente des conteneurs qui tournaient|Conteneurs (de nouveau en marche|qui ne tournent plus)|Le conteneur \d{1,9} \(\S{1,63}\) tournait avant|La liste des conteneurs qui tournaient|Après le redémarrage, la liste|Le redémarrage (a peut-être été|n’a pas été|était déjà) demandé)/

/** Shows the service's lines and marks of an output in the user's language; lines of the host stay unchanged. */
export function saidIn(lines: Lines, translate: (text: string) => string, marks: MarkWords): Lines {
  const said = (text: string) => markSaid(text, marks) ?? (OF_SERVICE.test(text) ? translate(text) : text)
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
