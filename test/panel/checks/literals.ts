import { parseSync } from 'vite'

/** Attributes whose value people read or hear. */
const FOR_PEOPLE = new Set(['aria-label', 'title', 'placeholder', 'alt', 'label', 'hint', 'aria-description'])
/** Signs, units of code and names of keys are the same in every language. */
const NO_WORD = /^[\s\d\p{P}\p{S}]*$|^(Ctrl [A-Z]|SHA256:…)$/u

/** The words for people that stand in a component, where they are in one language only. */
export function literalsIn(path: string, source: string): string[] {
  const { program, errors } = parseSync(path, source)
  const found: string[] = errors.map(({ message }) => `${path}: ${message}`)
  const note = (text: string) => {
    if (!NO_WORD.test(text.trim())) found.push(`${path}: ${text.trim()}`)
  }
  visit(program, (node) => {
    // Keys, commands and versions.
    if (node.type === 'JSXElement' && /^(code|kbd|pre)$/.test(elementOf(node))) return false
    if (node.type === 'JSXText') note(textOf(node.value))
    if (node.type === 'JSXAttribute' && FOR_PEOPLE.has(nameOf(node.name))) {
      visit(node.value, (inner) => {
        if (inner.type === 'Literal' && typeof inner.value === 'string') note(inner.value)
        // What is compared is not said.
        return inner.type !== 'BinaryExpression'
      })
    }
    return true
  })
  return found
}

interface Node {
  type: string
  [name: string]: unknown
}

/** Goes into what `see` says yes to. */
export function visit(node: unknown, see: (node: Node) => boolean): void {
  if (Array.isArray(node)) for (const each of node) visit(each, see)
  else if (isNode(node) && see(node)) for (const each of Object.values(node)) visit(each, see)
}

function elementOf({ openingElement }: Node): string {
  return isNode(openingElement) ? nameOf(openingElement.name) : ''
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** Of an attribute or an element, as it is written. */
function nameOf(node: unknown): string {
  return isNode(node) ? textOf(node.name) : ''
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
