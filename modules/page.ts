/*
 * The page of a module, as the panel renders it: tables, facts, forms and buttons over the module's own endpoints. It
 * consists of data alone, so nothing of a module runs in the panel's origin.
 */

import * as z from 'zod'

/** A text in both languages of the panel. */
export const PageWords = z.object({ fr: z.string(), en: z.string() })
export type PageWords = z.infer<typeof PageWords>

/** An endpoint of the module, as `GET /api/modules/hello/list`. */
const Call = z.string()

/** How the panel writes a value. */
export const SHOWN_AS = ['text', 'number', 'bytes', 'time', 'duration', 'status', 'code', 'link'] as const
/** The fields of forms. */
export const TYPED_AS = ['text', 'password', 'number', 'checkbox', 'choice', 'textarea'] as const

const ShownField = z.object({ field: z.string(), label: PageWords, as: z.enum(SHOWN_AS) })

const Asked = { confirm: PageWords.nullable(), danger: z.boolean() }

/** `params` and `body` name the fields of the row that the request carries; `body` is null when it has none. */
const RowAction = z.object({
  label: PageWords,
  call: Call,
  params: z.array(z.string()),
  body: z.array(z.string()).nullable(),
  ...Asked,
})

const FormField = z.object({
  name: z.string(),
  label: PageWords,
  help: PageWords.nullable(),
  as: z.enum(TYPED_AS),
  required: z.boolean(),
  /** Whether the body takes null for an empty field. */
  nullable: z.boolean(),
  /** Whether the body takes an empty text. */
  empty: z.boolean(),
  /** Whether a number must be whole. */
  whole: z.boolean(),
  /** The bounds of a number, or of the length of a text. */
  min: z.number().nullable(),
  max: z.number().nullable(),
  choices: z.array(z.union([z.string(), z.number()])),
  /** The value before anything is typed, where `from` of the form gives none. */
  initial: z.union([z.string(), z.number(), z.boolean()]).nullable(),
})
export type FormField = z.infer<typeof FormField>

const Title = { title: PageWords.nullable() }
const Read = { from: Call, refresh: z.number().nullable() }

/** A part of a page. `rows` is the path of a table's list in the answer; empty when the answer is the list. */
export const PageSection = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('table'),
    ...Title,
    ...Read,
    rows: z.string(),
    key: z.string(),
    columns: z.array(ShownField),
    actions: z.array(RowAction),
    empty: PageWords.nullable(),
  }),
  z.object({ kind: z.literal('facts'), ...Title, ...Read, fields: z.array(ShownField) }),
  z.object({
    kind: z.literal('form'),
    ...Title,
    call: Call,
    from: Call.nullable(),
    submit: PageWords.nullable(),
    fields: z.array(FormField),
  }),
  z.object({
    kind: z.literal('action'),
    label: PageWords,
    help: PageWords.nullable(),
    call: Call,
    /** Whether the request carries an empty object. */
    body: z.boolean(),
    ...Asked,
  }),
  z.object({ kind: z.literal('text'), text: PageWords }),
])
export type PageSection = z.infer<typeof PageSection>

export interface ModulePage {
  title: PageWords | null
  sections: readonly PageSection[]
}
