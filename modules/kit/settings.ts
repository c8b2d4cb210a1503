/*
 * Settings of a module: administrators read and change them at `/api/modules/<id>/settings`. Secrets can be written and
 * never read there.
 */

import * as z from 'zod'
import { onlyIf } from '../../db/audit.ts'
import type { Statement } from '../../db/libsql/database.ts'
import {
  installedModules,
  moduleValues,
  removeModuleValue,
  removeOldValues,
  saveModuleValue,
} from '../../db/module-store/values.ts'
import { timestamp } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { SecretError } from '../../platform/secrets.ts'
import { parseJson } from '../../platform/untrusted.ts'
import { fail } from '../../runtime/errors.ts'
import { type AnyFunction, READS, WRITES } from '../../runtime/function.ts'
import { nodeOf, takesNull } from '../page-schema.ts'
import type { StoreServices } from './store.ts'

/** The settings that a module declares: their schemas by name, and the names of the secret ones. */
export interface SettingsDefinition {
  fields: z.ZodObject
  secrets: readonly string[]
}

/** The stored settings of a module, with the defaults of the others. A secret that is not set is undefined. */
export type SettingsValues = Record<string, unknown>

const SETTING = 'setting:'
/** The declaration allows fewer (`declarations.ts`). */
const MOST = 100

/** The names of settings in answers and in the store. */
export const SETTING_NAME = /^[a-z]\w{0,62}$/i

/**
 * Returns what is wrong with a definition, in French; undefined when nothing is. Handlers read settings before anybody
 * has stored one, so each field must do without a value.
 */
export function settingsFault({ fields, secrets }: SettingsDefinition): string | undefined {
  const names = Object.keys(fields.shape)
  if (names.length === 0) return '« fields » ne contient aucun réglage'
  if (names.length > MOST) return `« fields » contient plus de ${MOST} réglages`
  const odd = names.find((name) => !SETTING_NAME.test(name))
  if (odd !== undefined)
    return `« fields.${odd} » n’est pas un nom possible (lettres, chiffres et « _ », une lettre d’abord)`
  for (const name of secrets) {
    if (!names.includes(name)) return `« secrets » nomme ${name}, absent de fields`
    if (!(bare(shapeOf(fields, name)) instanceof z.ZodString))
      return `« fields.${name} » est secret : z.string() est attendu`
    if (names.includes(`${name}_set`))
      return `« fields.${name}_set » est réservé : la réponse dit ainsi si ${name} est défini`
  }
  const needed = names.find((name) => !secrets.includes(name) && !shapeOf(fields, name).safeParse(undefined).success)
  return needed === undefined
    ? undefined
    : `« fields.${needed} » doit avoir une valeur par défaut (.default(…)) ou être .optional()`
}

/** The endpoints that read and change the settings of a module. */
export function settingsFunctions(id: string, definition: SettingsDefinition): AnyFunction[] {
  const path = `/api/modules/${id}/settings`
  const names = Object.keys(definition.fields.shape)
  const isSecret = (name: string) => definition.secrets.includes(name)
  const response = z.object(
    Object.fromEntries(
      names.map((name) => (isSecret(name) ? [`${name}_set`, z.boolean()] : [name, shapeOf(definition.fields, name)])),
    ),
  )
  const body = z.strictObject(
    Object.fromEntries(
      names.map((name) => {
        const schema = bare(shapeOf(definition.fields, name))
        const written = isSecret(name) ? writtenSecret(schema) : withDescription(schema, definition, name)
        return [name, written.nullable().optional()]
      }),
    ),
  )
  const get: AnyFunction = {
    method: 'GET',
    path,
    summary: 'The settings',
    description: 'Returns the settings of the module. Of a secret it says whether one is stored.',
    auth: 'admin',
    rateLimit: READS,
    response,
    async handler(_: unknown, context: SettingsContext) {
      const values = await readSettings(context, id, definition)
      return Object.fromEntries(
        names.map((name) => (isSecret(name) ? [`${name}_set`, values[name] !== undefined] : [name, values[name]])),
      )
    },
  }
  const patch: AnyFunction = {
    method: 'PATCH',
    path,
    summary: 'Change settings',
    description:
      'Changes all given settings or none. null returns a setting to its default, unless null is one of its values, and removes a secret; an empty secret means no change.',
    auth: 'admin',
    stepUp: true,
    rateLimit: WRITES,
    audit: ['module_settings_changed'],
    request: { body },
    response: z.object({ message: z.string() }),
    handler: (input: { body: SettingsValues }, context: SettingsContext) =>
      changeSettings(context, id, definition, input.body),
  }
  return [get, patch]
}

interface SettingsContext extends StoreServices {
  log: Log
  auditEntry(action: 'module_settings_changed', note: { target: string; details: Record<string, string> }): Statement
}

async function changeSettings(
  context: SettingsContext,
  id: string,
  { fields, secrets }: SettingsDefinition,
  change: SettingsValues,
): Promise<{ message: string }> {
  const { db, clock, auditEntry } = context
  const before = await readSettings(context, id, { fields, secrets })
  const stored = new Set((await moduleValues(db, id, SETTING)).map(({ name }) => name.slice(SETTING.length)))
  const asDefault = (name: string, value: unknown) => value === null && !isNullAllowed(shapeOf(fields, name))
  const given = Object.entries(change).filter(([name, value]) => {
    if (value === undefined || (secrets.includes(name) && value === '')) return false
    return asDefault(name, value) ? stored.has(name) : JSON.stringify(value) !== JSON.stringify(before[name])
  })
  if (given.length === 0) return { message: 'Aucun réglage n’a changé.' }
  const defaultOf = (name: string) => (secrets.includes(name) ? undefined : shapeOf(fields, name).parse(undefined))
  const changed = given.map(([name, value]) => [name, asDefault(name, value) ? defaultOf(name) : value] as const)
  const after = { ...before, ...Object.fromEntries(changed) }
  const missing = secrets.filter((name) => after[name] === undefined)
  // A refinement of the whole object sees all settings; a secret that nobody has stored is no fault of this change.
  const checked = await fields.safeParseAsync(after)
  const issues = (checked.error?.issues ?? []).filter(({ path: [first] }) => !missing.some((name) => name === first))
  if (issues.length > 0) {
    const details = issues.map(({ path, message }) => ({ field: path.map(String).join('.'), message }))
    throw fail('invalid_request', { details })
  }
  const now = timestamp(clock())
  const names = Object.keys(fields.shape)
  const entry = { target: id, details: { fields: given.map(([name]) => name).join(', ') } }
  const counts = await db.batch([
    removeOldValues({ module: id, kind: SETTING, names }, MOST),
    ...given.map(([name, value]) => {
      if (asDefault(name, value)) return removeModuleValue(id, SETTING + name)
      const secret = secrets.includes(name)
      const text = secret ? context.secrets.seal(sealedSetting(id, name), String(value)) : JSON.stringify(value)
      return saveModuleValue({ module: id, kind: SETTING, name, value: text, secret }, 2 * MOST, now)
    }),
    onlyIf(auditEntry('module_settings_changed', entry), installedModules(id)),
  ])
  // The module was removed meanwhile: with its record, all its settings are gone.
  if (counts.at(-1) === 0) throw fail('not_found')
  return { message: 'Réglages enregistrés.' }
}

/**
 * Returns the settings of a module. A stored value that a newer version of the module refuses counts as not set, and so
 * does a secret that cannot be decrypted; the log says so.
 */
export async function readSettings(
  { db, secrets, log }: Pick<SettingsContext, 'db' | 'secrets' | 'log'>,
  id: string,
  definition: SettingsDefinition,
): Promise<SettingsValues> {
  const rows = await moduleValues(db, id, SETTING)
  const stored = new Map(rows.map(({ name, value }) => [name.slice(SETTING.length), value]))
  const values: SettingsValues = {}
  for (const name of Object.keys(definition.fields.shape)) {
    const text = stored.get(name)
    const schema = shapeOf(definition.fields, name)
    if (definition.secrets.includes(name)) {
      values[name] = text === undefined ? undefined : opened(secrets, { id, name, text }, log)
      continue
    }
    const parsed = text === undefined ? undefined : schema.safeParse(parseJson(text))
    if (parsed && !parsed.success)
      log.warn({ module: id, setting: name }, 'a stored setting is invalid, its default counts')
    values[name] = parsed?.success ? parsed.data : schema.safeParse(undefined).data
  }
  return values
}

function opened(
  secrets: StoreServices['secrets'],
  { id, name, text }: { id: string; name: string; text: string },
  log: Log,
): string | undefined {
  try {
    return secrets.open(sealedSetting(id, name), text)
  } catch (error) {
    if (!(error instanceof SecretError)) throw error
    log.warn({ module: id, setting: name, err: error }, 'a stored secret cannot be decrypted')
    return undefined
  }
}

/** The name under which a secret setting of a module is sealed. */
export const sealedSetting = (id: string, name: string): string => `module-setting:${id}:${name}`

function shapeOf({ shape }: z.ZodObject, name: string): z.ZodType {
  const schema: unknown = shape[name]
  if (schema instanceof z.ZodType) return schema
  throw new TypeError(`${name} has no schema`)
}

/** Returns the schema of a present value: an absent one in a change must not become the default. */
function bare(schema: z.ZodType): z.ZodType {
  const isWrapped =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodCatch
  if (!isWrapped) return schema
  const inner: unknown = schema.unwrap()
  return inner instanceof z.ZodType ? bare(inner) : schema
}

/** Whether null is a value of a setting, rather than the wish for its default. */
function isNullAllowed(schema: z.ZodType): boolean {
  return takesNull(nodeOf(bare(schema), 'input'))
}

/** Keeps the title and the description that the unwrapped schema loses; forms show them. */
function withDescription(schema: z.ZodType, { fields }: SettingsDefinition, name: string): z.ZodType {
  const { title, description } = shapeOf(fields, name).meta() ?? {}
  if (title === undefined && description === undefined) return schema
  return schema.meta({ ...(title !== undefined && { title }), ...(description !== undefined && { description }) })
}

/** A secret in a change: an empty text means no change, whatever the schema asks of a secret. */
function writtenSecret(schema: z.ZodType): z.ZodType {
  const { title, description } = schema.meta() ?? {}
  return z
    .string()
    .max(10_000)
    .superRefine((text, { addIssue }) => {
      if (text === '') return
      for (const { message } of schema.safeParse(text).error?.issues ?? []) addIssue(message)
    })
    .meta({
      format: 'password',
      writeOnly: true,
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
    })
}
