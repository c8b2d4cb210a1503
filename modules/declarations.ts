/*
 * Parses the declarations of a module. The compiler cannot check them, because a module is not compiled with the
 * service: a misspelt `rateLimit` would create an endpoint without a limit.
 */

import * as z from 'zod'
import type { ErrorTable } from '../runtime/errors.ts'
import type { AnyFunction } from '../runtime/function.ts'
import { expected, Faults, ModuleError, nearest, sentences } from './faults.ts'
import { checkSettings, checkTasks, SettingsDeclaration, TaskDeclaration, withSettingsForm } from './kit/declared.ts'
import type { ModuleParts } from './kit/kit.ts'
import { settingsFunctions } from './kit/settings.ts'
import { OWN_ACTION } from './kit/told.ts'
import type { ModulePage } from './page.ts'
import { checkPage } from './page-check.ts'
import { PageDeclaration } from './page-declaration.ts'

/** The parsed declarations of a module. */
export interface Declarations extends ModuleParts {
  /** Also those that read and change its settings. */
  functions: AnyFunction[]
  page: ModulePage | undefined
}

/**
 * Checks what a module declares, as the compiler checks the functions of the service. One wrong declaration refuses them
 * all. Returns copies, which the module can no longer change. Throws a ModuleError.
 */
export function parseDeclarations(id: string, declared: unknown, known: KnownCodes): Declarations {
  if (!Array.isArray(declared)) throw new ModuleError('l’export par défaut ne renvoie pas une liste de déclarations')
  const list: readonly unknown[] = declared
  const items = Array.from(list, (item, index) => ({ item, kind: kindOf(item), number: index + 1 }))
  const faults = new Faults()
  const functions = parseFunctions(
    id,
    items.filter(({ kind }) => kind === undefined),
    known,
    faults,
  )
  for (const each of items)
    if (each.kind !== undefined && !KINDS.some((known) => known === each.kind))
      faults.in(() => {
        throw wrongIn(each)('son genre (kind) est inconnu')
      })
  const ofKind = <schema extends z.ZodType>(kind: (typeof KINDS)[number], schema: schema) =>
    items
      .filter((each) => each.kind === kind)
      .flatMap((each) => {
        const found = faults.in(() => ({ value: parsed(schema, each) }))
        return found ? [{ ...found, wrong: wrongIn(each), number: each.number }] : []
      })
  const declaredSettings = ofKind('settings', SettingsDeclaration)
  const settings = faults.in(() => checkSettings(id, functions, declaredSettings))
  // First, so that no endpoint with a parameter answers in their place.
  if (settings) functions.unshift(...settingsFunctions(id, settings))
  const declaredTasks = ofKind('task', TaskDeclaration)
  const tasks = faults.in(() => checkTasks(declaredTasks)) ?? []
  const [page, another] = ofKind('page', PageDeclaration)
  if (another)
    faults.in(() => {
      throw another.wrong('une page est déjà déclarée')
    })
  // A page is checked against endpoints that are all there.
  faults.throw()
  const whole = settings ? withSettingsForm(id, settings, page?.value) : page?.value
  const { wrong } = page ?? declaredSettings[0] ?? {}
  return { functions, settings, tasks, page: whole && wrong && checkPage(whole, functions, wrong) }
}

/** The declarations that are not functions. */
const KINDS = ['settings', 'task', 'page'] as const

/** A declaration with its place in the list of the module. */
interface Item {
  item: unknown
  number: number
}

function parseFunctions(id: string, items: readonly Item[], known: KnownCodes, faults: Faults): AnyFunction[] {
  const Declaration = declarationOf(`/api/modules/${id}/`, known)
  const taken = new Set<string>()
  const one = (each: Item): AnyFunction[] => {
    const data = parsed(Declaration, each)
    const title = `${data.method} ${data.path.replace(/:\w+/g, ':')}`
    if (taken.has(title)) throw wrongIn(each)('cette méthode à cette adresse est déjà déclarée')
    taken.add(title)
    return [data]
  }
  return items.flatMap((each) => faults.in(() => one(each)) ?? [])
}

function parsed<schema extends z.ZodType>(schema: schema, each: Item): z.output<schema> {
  const { success, data, error } = schema.safeParse(each.item)
  if (!success) throw wrongIn(each)(error.issues.flatMap((issue) => sentences(issue)).join(' ; '))
  return data
}

/** Creates the error of a fault in a declaration. */
function wrongIn({ item, number }: Item): (fault: string) => ModuleError {
  return (fault) => new ModuleError(`déclaration ${number}${titleOf(item)} : ${fault}`)
}

const Kind = z.object({ kind: z.unknown() })

/** The kind of a declaration; undefined for a function, which has none. */
function kindOf(item: unknown): unknown {
  return Kind.safeParse(item).data?.kind
}

const Title = z.object({ method: z.string().max(20), path: z.string().max(200) })

function titleOf(declaration: unknown): string {
  const kind = kindOf(declaration)
  if (kind === 'page') return ' (page)'
  if (kind === 'settings') return ' (réglages)'
  if (kind === 'task') return ' (tâche)'
  const { success, data } = Title.safeParse(declaration)
  return success ? ` (${data.method} ${data.path})` : ''
}

/** The error codes and audit actions of the service that a module may use. */
export interface KnownCodes {
  errors: ErrorTable
  actions: readonly string[]
}

const Schema = z.custom<z.ZodType>((value) => value instanceof z.ZodType, expected('un schéma zod'))
const ObjectSchema = z.custom<z.ZodObject>((value) => value instanceof z.ZodObject, expected('un schéma z.object'))

const Positive = z.int(expected('un entier positif')).positive(expected('un entier positif'))
const Text = z.string(expected('un texte'))

const Example = z.looseObject({ response: z.unknown() }, expected('un objet { query?, body?, response }'))

/** `none`, `own`, or a function that returns the targets of a request. */
const Targets = z.custom<NonNullable<AnyFunction['targets']>>(
  (value) => value === 'none' || value === 'own' || typeof value === 'function',
  expected('none, own ou une fonction'),
)

/** Unchecked, like the function of `Targets`: the signature of a function cannot be seen at run time. */
const Handler = z.custom<AnyFunction['handler']>((value) => typeof value === 'function', expected('une fonction'))

/**
 * The schema of a declaration below `root`, which ends in a slash. It refuses `precondition`: the service sets its own
 * (`modules.ts`), which would silently replace the module's.
 */
function declarationOf(root: string, { errors, actions }: KnownCodes) {
  const Code = oneOf(Object.keys(errors), 'un code d’erreur du service')
  const Action = oneOf(actions, 'une action du journal d’audit')
  const Limit = z.strictObject(
    {
      limit: Positive,
      seconds: Positive,
      by: z.enum(['address', 'user'], expected('address ou user')),
      shared: z.boolean(expected('true ou false')).exactOptional(),
      refusal: Code.exactOptional(),
      // The service writes this entry, which would not name the module.
      audit: oneOf(
        actions.filter((action) => action !== OWN_ACTION),
        'une action du journal d’audit',
      ).exactOptional(),
    },
    expected('un objet'),
  )

  const Request = z.strictObject(
    {
      params: ObjectSchema.exactOptional(),
      query: ObjectSchema.exactOptional(),
      cookies: ObjectSchema.exactOptional(),
      body: Schema.exactOptional(),
      refusal: Code.exactOptional(),
    },
    expected('un objet { params?, query?, cookies?, body?, refusal? }'),
  )
  return z
    .strictObject(
      {
        method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], expected('GET, POST, PUT, PATCH ou DELETE')),
        path: z.string(expected(`une adresse sous ${root}`)).superRefine((path, { addIssue }) => {
          const fault = pathFault(root, path)
          if (fault !== undefined) addIssue(fault)
        }),
        area: Text.exactOptional(),
        summary: Text.exactOptional(),
        description: Text.exactOptional(),
        auth: z.enum(
          ['none', 'optional', 'user', 'operator', 'admin'],
          expected('none, optional, user, operator ou admin'),
        ),
        credential: z.literal('session', expected('session')).exactOptional(),
        stepUp: z.literal(true, expected('true')).exactOptional(),
        targets: Targets.exactOptional(),
        rateLimit: z.union([z.literal(false), Limit], expected('{ limit, seconds, by }, ou false')),
        audit: z
          .union([z.literal(false), z.array(Action, expected('une liste'))], expected('une liste d’actions, ou false'))
          .exactOptional(),
        request: Request.exactOptional(),
        status: z.literal([200, 201, 202], expected('200, 201 ou 202')).exactOptional(),
        response: Schema,
        headers: z.record(z.string(), Text, expected('un objet de textes')).exactOptional(),
        example: Example.exactOptional(),
        // Any other character is invalid in a header and would fail each request.
        contentType: z
          .string(expected('un texte'))
          .regex(/^[\x20-\x7e]+$/, expected('un type MIME'))
          .exactOptional(),
        errors: z.array(Code, expected('une liste de codes d’erreur du service')).exactOptional(),
        handler: Handler,
      },
      expected('un objet'),
    )
    .superRefine(({ method, path, audit, request = {} }, { addIssue }) => {
      const wrong = (field: string, message: string) => addIssue({ code: 'custom', path: field.split('.'), message })
      if (method !== 'GET' && audit === undefined) wrong('audit', 'manque (attendu : une liste d’actions, ou false)')
      if (method === 'GET' && request.body) wrong('request.body', 'n’est pas possible avec GET')
      const names = paramsOf(path)
      const described = request.params ? Object.keys(request.params.shape) : []
      const missing = names.filter((name) => !described.includes(name))
      const extra = described.filter((name) => !names.includes(name))
      if (missing.length > 0) wrong('request.params', `ne décrit pas ${missing.join(', ')}`)
      if (extra.length > 0) wrong('request.params', `décrit ${extra.join(', ')}, absent de l’adresse`)
    })
}

/** A name among the known ones. The fault of another one quotes it, with the most similar one. */
function oneOf(known: readonly string[], what: string) {
  const names = new Set(known)
  return z.custom<string>((value) => typeof value === 'string' && names.has(value), {
    error(issue) {
      const { input } = issue
      if (typeof input !== 'string') return expected(what).error(issue)
      const similar = nearest(input, known)
      const given = input.slice(0, 100)
      return similar === undefined
        ? `est invalide : « ${given} » (attendu : ${what})`
        : `est invalide : « ${given} » (attendu : ${what}, le plus proche : ${similar})`
    },
  })
}

function pathFault(root: string, path: string): string | undefined {
  if (!path.startsWith(root) || path === root) return `doit être sous ${root}, avec une suite`
  const segments = path.slice(root.length).split('/')
  const invalid = segments.find((segment) => !isSegment(segment))
  if (invalid !== undefined) return `contient un segment inadmissible : « ${invalid} »`
  // The panel's own endpoints, which enable and disable the module.
  if (segments[0] === 'enable' || segments[0] === 'disable') return `est réservée au panneau : ${root}${segments[0]}`
  const names = paramsOf(path)
  if (new Set(names).size < names.length) return 'contient deux fois le même paramètre'
  return undefined
}

const isSegment = (text: string) => /^(?:[\w.-]+|:[a-z_]\w*)$/i.test(text) && text !== '.' && text !== '..'

const paramsOf = (path: string) => Array.from(path.matchAll(/\/:(\w+)/g), ([, name = '']) => name)
