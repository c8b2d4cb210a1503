/*
 * The form of what an author writes for `definePage`. Whether it fits the module's endpoints is checked afterwards
 * (`page-check.ts`).
 */

import * as z from 'zod'
import { expected } from './faults.ts'
import { type PageWords, SHOWN_AS, TYPED_AS } from './page.ts'

const SHORT = 80
const LONG = 2_000
const MAX_SECTIONS = 20
const MAX_FIELDS = 20
const MAX_ACTIONS = 4
/** The shortest pause between two readings of a section, in seconds, and the longest. */
const REFRESH = { least: 5, most: 86_400 }

/** A text on one line or, up to `LONG`, on several. */
function words(max: number) {
  const what = `un texte, ou {fr, en}, de ${max} caractères au plus`
  const text = z
    .string(expected(what))
    .max(max, expected(what))
    .refine((given) => given.trim() !== '', 'est vide')
    .regex(max === SHORT ? /^\P{Cc}*$/u : /^[\P{Cc}\n]*$/u, 'contient un caractère de contrôle')
  return z
    .union([text, z.strictObject({ fr: text, en: text })], expected(what))
    .transform((given): PageWords => (typeof given === 'string' ? { fr: given, en: given } : given))
}

const Short = words(SHORT)
const Long = words(LONG)

const calls = (methods: string) =>
  z
    .string(expected(`une fonction du module, comme « ${methods.split('|')[0]} /api/modules/… »`))
    .max(220, 'est trop long')
    .regex(new RegExp(`^(?:${methods}) /\\S+$`), `doit être « ${methods.replaceAll('|', ', ')} » et une adresse`)
const Read = calls('GET')
const Write = calls('POST|PUT|PATCH|DELETE')

/** The name of a field, or a path such as `owner.name`. */
const Field = z
  .string(expected('le nom d’un champ'))
  .max(200, 'est trop long')
  .regex(/^[\w-]+(?:\.[\w-]+)*$/, 'doit être le nom d’un champ, ou un chemin comme « a.b »')

const Refresh = z
  .number(expected('un nombre de secondes'))
  .min(REFRESH.least, `${REFRESH.least} s au moins`)
  .max(REFRESH.most, `${REFRESH.most} s au plus`)
  .optional()

const Asked = { confirm: Long.optional(), danger: z.boolean(expected('true ou false')).default(false) }

const list = <schema extends z.ZodType>(schema: schema, most: number) =>
  z.array(schema, expected('une liste')).max(most, `a plus de ${most} éléments`)

const Shown = z.strictObject(
  { field: Field, label: Short, as: z.enum(SHOWN_AS, expected(SHOWN_AS.join(', '))).default('text') },
  expected('un objet { field, label, as? }'),
)

const Table = z.strictObject(
  {
    kind: z.literal('table'),
    title: Short.optional(),
    from: Read,
    rows: z.union([z.literal(''), Field], expected('le chemin de la liste dans la réponse')).default(''),
    key: Field,
    columns: list(Shown, MAX_FIELDS).min(1, 'est vide'),
    actions: list(
      z.strictObject({ label: Short, call: Write, ...Asked }, expected('un objet { label, call, confirm?, danger? }')),
      MAX_ACTIONS,
    ).default([]),
    empty: Long.optional(),
    refresh: Refresh,
  },
  expected('un objet'),
)

const Facts = z.strictObject(
  {
    kind: z.literal('facts'),
    title: Short.optional(),
    from: Read,
    fields: list(Shown, MAX_FIELDS).min(1, 'est vide'),
    refresh: Refresh,
  },
  expected('un objet'),
)

const Typed = z.strictObject(
  {
    field: Field,
    label: Short.optional(),
    help: Long.optional(),
    as: z.enum(TYPED_AS, expected(TYPED_AS.join(', '))).optional(),
  },
  expected('un objet { field, label?, help?, as? }'),
)
export type TypedDeclaration = z.infer<typeof Typed>

const Form = z.strictObject(
  {
    kind: z.literal('form'),
    title: Short.optional(),
    call: Write,
    from: Read.optional(),
    submit: Short.optional(),
    fields: list(Typed, MAX_FIELDS).min(1, 'est vide').optional(),
  },
  expected('un objet'),
)

const Action = z.strictObject(
  { kind: z.literal('action'), label: Short, help: Long.optional(), call: Write, ...Asked },
  expected('un objet'),
)

const Text = z.strictObject({ kind: z.literal('text'), text: Long }, expected('un objet'))

const KINDS = { table: Table, facts: Facts, form: Form, action: Action, text: Text }

/** One section. The kind decides first, so that the faults are those of that kind. */
const Section = z.discriminatedUnion('kind', [Table, Facts, Form, Action, Text], {
  error: (issue) =>
    issue.code === 'invalid_union' ? `doit être ${Object.keys(KINDS).join(', ')}` : 'est invalide (attendu : un objet)',
})
export type SectionDeclaration = z.infer<typeof Section>

/** The value that `definePage` returns. */
export const PageDeclaration = z.strictObject(
  {
    kind: z.literal('page'),
    title: Short.optional(),
    sections: list(Section, MAX_SECTIONS).min(1, 'est vide'),
  },
  expected('un objet { title?, sections }'),
)
export type PageDeclaration = z.infer<typeof PageDeclaration>
