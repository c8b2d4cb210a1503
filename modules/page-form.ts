/*
 * The fields of a form. Their kinds, bounds and choices come from the schema of the request's body, so that the form
 * refuses what the endpoint would refuse.
 */

import type * as z from 'zod'
import type { FormField } from './page.ts'
import type { TypedDeclaration } from './page-declaration.ts'
import { fieldsOf, type Node, nodeOf, takesNull, variants } from './page-schema.ts'

const MAX_FIELDS = 20
const MAX_CHOICES = 200
const MAX_TEXT = 200

/** Returns the fields of a form, all those of the body unless the page names some. */
export function formFields(
  body: z.ZodType,
  declared: readonly TypedDeclaration[] | undefined,
  wrong: (fault: string) => Error,
): FormField[] {
  const found = fieldsOf(nodeOf(body, 'input'))
  if (!found) throw wrong('« call » nomme une fonction dont le corps n’est pas un z.object lisible')
  const byName = new Map(found.map((each) => [each.name, each]))
  const wanted = declared ?? found.map(({ name }): TypedDeclaration => ({ field: name }))
  if (wanted.length > MAX_FIELDS) throw wrong(`« call » a plus de ${MAX_FIELDS} champs : nommez-en dans « fields »`)
  if (new Set(wanted.map(({ field }) => field)).size < wanted.length) throw wrong('« fields » nomme deux fois un champ')
  const unknown = wanted.find(({ field }) => !byName.has(field))
  const named = unknown && `« fields » nomme « ${unknown.field} », qui n’est pas dans le corps`
  const missing = found.filter(({ name, required }) => required && !wanted.some(({ field }) => field === name))
  if (missing.length > 0)
    throw wrong(
      [`« fields » omet ${missing.map(({ name }) => name).join(', ')}, que le corps exige`, named]
        .filter(Boolean)
        .join(' ; '),
    )
  if (named !== undefined) throw wrong(named)
  return wanted.flatMap((field) => {
    const known = byName.get(field.field)
    return known ? [formField(field, known, wrong)] : []
  })
}

function formField(
  { field: name, label, help, as }: TypedDeclaration,
  { node, required }: { node: Node; required: boolean },
  wrong: (fault: string) => Error,
): FormField {
  const [only, ...more] = variants(node)
  const choices = choicesOf(node)
  const natural = choices.length > 0 ? 'choice' : more.length > 0 ? undefined : naturalKind(only)
  if (!natural) throw wrong(`« fields » : le champ « ${name} » n’est ni texte, ni nombre, ni oui/non, ni choix`)
  if (choices.length > MAX_CHOICES) throw wrong(`« fields » : le champ « ${name} » a plus de ${MAX_CHOICES} choix`)
  if (as && as !== natural && !(natural === 'text' && (as === 'password' || as === 'textarea')))
    throw wrong(`« fields » : le champ « ${name} » ne peut pas être ${as}`)
  const text = (given: string | undefined) => (given?.trim() ? both(given.trim().slice(0, MAX_TEXT)) : undefined)
  const isText = natural === 'text'
  const initial = node.default ?? only?.default
  return {
    name,
    label: label ?? text(node.title ?? only?.title) ?? both(name),
    help: help ?? text(node.description ?? only?.description) ?? null,
    as: as ?? natural,
    required,
    nullable: takesNull(node),
    empty: isText && !only?.minLength && only?.pattern === undefined && only?.format === undefined,
    whole: only?.type === 'integer',
    min: bounded(isText ? only?.minLength : only?.minimum),
    max: bounded(isText ? only?.maxLength : only?.maximum),
    choices,
    initial:
      typeof initial === 'string' || typeof initial === 'number' || typeof initial === 'boolean' ? initial : null,
  }
}

const both = (text: string) => ({ fr: text, en: text })

/** The bounds of every integer in zod say nothing to a person. */
function bounded(limit: number | undefined): number | null {
  return limit === undefined || Math.abs(limit) >= Number.MAX_SAFE_INTEGER ? null : limit
}

function naturalKind(node: Node | undefined): 'text' | 'number' | 'checkbox' | undefined {
  const type = Array.isArray(node?.type) ? node.type.find((each) => each !== 'null') : node?.type
  if (type === 'string') return 'text'
  if (type === 'number' || type === 'integer') return 'number'
  return type === 'boolean' ? 'checkbox' : undefined
}

/** The values of an enumeration, also of one that is made of constants. */
function choicesOf(node: Node): (string | number)[] {
  const values = variants(node).map(({ enum: list, const: only }) => list ?? (only === undefined ? undefined : [only]))
  if (values.includes(undefined)) return []
  return values
    .flatMap((list) => list ?? [])
    .filter((value): value is string | number => typeof value === 'string' || typeof value === 'number')
}
