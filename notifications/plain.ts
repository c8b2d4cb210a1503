/*
 * Texts of hosts, packages and users, made safe for a message. Without that, a container's name could break a line of a
 * mail, or turn the reading direction of what follows.
 */

/** Control, format and separator characters, bidirectional marks among them, and lone surrogates. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu

/** Returns a text on one line, at most `most` characters long. */
export function plainLine(text: string, most: number): string {
  // A hostile text may be long, so it is cut before it is read.
  const line = text
    .slice(0, 4 * most)
    .replace(UNSEEN, ' ')
    .trim()
  return cut(line, most)
}

/** Cuts a text to `most` characters, with an ellipsis in place of its end. Never cuts a character in two. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const end = text.slice(0, most - 1)
  return `${end.replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** The rest of a terminal sequence after its escape character: a style or a movement, a title, or a single letter. */
const SEQUENCE = /^(?:\[[0-?]*[ -/]*[@-~]|\][^\p{Cc}]*\p{Cc}?|[@-Z\\^_])/u

function withoutSequences(text: string): string {
  const [first = '', ...others] = text.split('\u001b')
  return first + others.map((part) => part.replace(SEQUENCE, '')).join('')
}

/** Characters of one line of an output. */
const LONGEST_LINE = 300

/** Returns the last lines of an output, at most `lines` of them and `most` characters, the last ones. */
export function lastLines(output: string, lines: number, most: number): string[] {
  const found: string[] = []
  let room = most
  // Of a line that is drawn again and again, such as a progress bar, the last state counts.
  const end = withoutSequences(output.slice(-16 * most))
  const all = end.replaceAll('\r\n', '\n').split('\n').reverse()
  for (const text of all) {
    const line = cut(
      text
        .slice(text.lastIndexOf('\r') + 1)
        .replace(UNSEEN, ' ')
        .trimEnd(),
      LONGEST_LINE,
    )
    if (line === '') continue
    if (found.length === lines || line.length >= room) break
    found.unshift(line)
    room -= line.length + 1
  }
  return found
}
