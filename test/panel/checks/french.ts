import { parseSync } from 'vite'
import { visit } from './literals.ts'

/** Distinguishes a French sentence from a name or a command. */
const FRENCH = /[àâçéèêëîïôùûœ«»]|\b(le|la|les|un|une|des|du|est|pas|dans|avec|pour|par|aucun|aucune)\b/i

const OF_DECLARATION = new Set(['summary', 'description', 'example'])

/** The French sentences in a source, with `{}` for each inserted value. */
export function frenchIn(path: string, source: string): string[] {
  const { program, errors } = parseSync(path, source)
  const found: string[] = errors.map(({ message }) => `${path}: ${message}`)
  const note = (text: string) => {
    if (FRENCH.test(text)) found.push(text.trim())
  }
  visit(program, (node) => {
    // The description of an endpoint is English, and its examples are not shown to users.
    if (node.type === 'Property' && OF_DECLARATION.has(String(Object(node.key).name))) return false
    if (node.type === 'Literal' && typeof node.value === 'string') note(node.value)
    if (node.type === 'TemplateLiteral' && Array.isArray(node.quasis)) note(node.quasis.map(cooked).join('{}'))
    return true
  })
  return found
}

/** The text of a template part, with its escapes replaced. */
function cooked(quasi: unknown): string {
  const { value } = Object(quasi)
  return String(Object(value).cooked ?? '')
}
