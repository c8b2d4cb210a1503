import { parseSync } from 'vite'

/** Attributes whose value users read or hear. */
const FOR_PEOPLE = new Set(['aria-label', 'title', 'placeholder', 'alt', 'label', 'hint', 'aria-description'])
/** Signs, units of code and names of keys are the same in every language. */
const NO_WORD = /^[\s\d\p{P}\p{S}]*$|^(Ctrl [A-Z]|SHA256:…)$/u

/** Finds UI texts that are written in a component, and so exist in one language only. */
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
        // A compared text is not shown.
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

/** Visits a syntax tree; it visits the children of a node if `see` returns true. */
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

/** The name of an attribute or an element. */
function nameOf(node: unknown): string {
  return isNode(node) ? textOf(node.name) : ''
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
