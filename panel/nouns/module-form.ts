import { valueAt } from './module-values.ts'

/** A field of a module's form, as the service describes it. */
export interface FormField {
  name: string
  as: 'text' | 'password' | 'number' | 'checkbox' | 'choice' | 'textarea'
  required: boolean
  nullable: boolean
  empty: boolean
  whole: boolean
  min: number | null
  max: number | null
  choices: readonly (string | number)[]
  initial: string | number | boolean | null
}

/** The typed texts of a form, by field; a checkbox is `true` or empty. */
export type Typed = Readonly<Record<string, string>>

/** The typed texts before anybody types: the present values of the service, else those that fields begin with. */
export function begun(fields: readonly FormField[], present: unknown): Typed {
  return Object.fromEntries(
    fields.map(({ name, as, initial }) => {
      const value = valueAt(present, name) ?? initial
      if (as === 'password') return [name, '']
      if (as === 'checkbox') return [name, value === true ? 'true' : '']
      return [name, typeof value === 'string' || typeof value === 'number' ? String(value) : '']
    }),
  )
}

export type Fault =
  | { fault: 'required' | 'number' | 'whole' }
  | { fault: 'least' | 'most' | 'shortest' | 'longest'; limit: number }

/** The key of a typed text that is `true` when the stored secret of a field is to be removed. No name has a space. */
export const removalOf = (name: string) => `${name} removed`

type Filled = { body: Record<string, unknown> } | { wrong: Record<string, Fault> }

/** Returns the body of the request, or what is wrong with the fields. `before` are the texts from before the user typed. */
export function filled(fields: readonly FormField[], typed: Typed, before: Typed): Filled {
  const wrong: Record<string, Fault> = {}
  const body: Record<string, unknown> = {}
  for (const field of fields) {
    if (typed[removalOf(field.name)] === 'true') {
      body[field.name] = null
      continue
    }
    const found = typedValue(field, typed[field.name] ?? '', before[field.name] ?? '')
    if ('fault' in found) wrong[field.name] = found
    else if (found.value !== undefined) body[field.name] = found.value
  }
  return Object.keys(wrong).length > 0 ? { wrong } : { body }
}

function typedValue(field: FormField, text: string, before: string): { value: unknown } | Fault {
  const { as, required, nullable, empty } = field
  if (as === 'checkbox') return { value: text === 'true' }
  if (text === '') {
    // An empty secret keeps the stored one.
    if (as === 'password' && !required) return { value: undefined }
    const isText = as !== 'number' && as !== 'choice'
    if (isText && empty && (required || before !== '')) return { value: '' }
    if (nullable && (required || before !== '')) return { value: null }
    return required ? { fault: 'required' } : { value: undefined }
  }
  if (as === 'number') return numberOf(field, text)
  if (as === 'choice') return { value: field.choices.find((each) => String(each) === text) }
  if (field.min !== null && text.length < field.min) return { fault: 'shortest', limit: field.min }
  if (field.max !== null && text.length > field.max) return { fault: 'longest', limit: field.max }
  return { value: text }
}

function numberOf({ whole, min, max }: FormField, text: string): { value: number } | Fault {
  const value = Number(text.trim().replace(',', '.'))
  if (!Number.isFinite(value) || text.trim() === '') return { fault: 'number' }
  if (whole && !Number.isInteger(value)) return { fault: 'whole' }
  if (min !== null && value < min) return { fault: 'least', limit: min }
  if (max !== null && value > max) return { fault: 'most', limit: max }
  return { value }
}
