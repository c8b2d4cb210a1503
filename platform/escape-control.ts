/** Control, format and separator characters, which a terminal obeys or does not show, and lone surrogates. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** Makes an untrusted word or line safe for a terminal: each unseen character is escaped, as `\u{1b}`. */
export function escapeControl(text: string): string {
  return text.replace(UNSEEN, written)
}

/** The same for a text of several lines: line feeds and tabs stay. */
export function escapeControlLines(text: string): string {
  return text.replace(UNSEEN, (character) =>
    character === '\n' || character === '\t' ? character : written(character),
  )
}

/** Makes a line of JSON safe for a terminal. Its value stays the same, because the escapes are JSON's own. */
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
