/**
 * Splits a command line into words as a POSIX shell does: blanks, single and double quotes, backslashes. Nothing is
 * expanded, and no other character has a meaning. Undefined when a quote stays open.
 */
export function splitWords(line: string): string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let at = 0
  while (at < line.length) {
    const char = line.charAt(at)
    at += 1
    if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (char === "'") {
      const end = line.indexOf("'", at)
      if (end < 0) return undefined
      word = (word ?? '') + line.slice(at, end)
      at = end + 1
    } else if (char === '"') {
      const quoted = doubleQuoted(line, at)
      if (!quoted) return undefined
      word = (word ?? '') + quoted.text
      at = quoted.end
    } else if (char === '\\') {
      const next = line.charAt(at)
      at += 1
      if (next !== '\n') word = (word ?? '') + next
    } else {
      word = (word ?? '') + char
    }
  }
  if (word !== undefined) words.push(word)
  return words
}

/** Reads from behind the opening quote; `end` is behind the closing one. */
function doubleQuoted(line: string, from: number): { text: string; end: number } | undefined {
  let text = ''
  for (let at = from; at < line.length; at += 1) {
    const char = line.charAt(at)
    if (char === '"') return { text, end: at + 1 }
    if (char === '\\' && '$`"\\\n'.includes(line.charAt(at + 1))) {
      at += 1
      if (line.charAt(at) !== '\n') text += line.charAt(at)
    } else {
      text += char
    }
  }
  return undefined
}
