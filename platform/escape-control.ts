/** What moves a cursor, hides itself or turns the text around it when a terminal shows it, and what no text may have. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** One word or line of somebody else's, for a terminal: what cannot be seen is written out, as `\u{1b}`. */
export function escapeControl(text: string): string {
  return text.replace(UNSEEN, written)
}

/** The same for a text of several lines. */
export function escapeControlLines(text: string): string {
  return text.replace(UNSEEN, (character) =>
    character === '\n' || character === '\t' ? character : written(character),
  )
}

/** A line of JSON in which nothing is left that a terminal would obey; it says the same. */
export function escapeControlJson(line: string): string {
  return line.replace(UNSEEN, (character) =>
    character === '\n'
      ? character
      : Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(''),
  )
}

function written(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
