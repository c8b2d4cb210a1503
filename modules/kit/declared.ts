/*
 * Parses the declarations of settings and tasks. Like those of endpoints, one wrong declaration refuses the module.
 */

import * as z from 'zod'
import type { AnyFunction } from '../../runtime/function.ts'
import { expected } from '../faults.ts'
import type { PageDeclaration } from '../page-declaration.ts'
import { type SettingsDefinition, settingsFault } from './settings.ts'
import { LEAST_EVERY, type TaskDefinition } from './tasks.ts'

/** A parsed declaration; `wrong` creates the error of a fault in it. */
interface Declared<value> {
  value: value
  wrong(fault: string): Error
}

export const SettingsDeclaration = z.strictObject(
  {
    kind: z.literal('settings'),
    fields: z.custom<z.ZodObject>((value) => value instanceof z.ZodObject, expected('un schéma z.object')),
    secrets: z.array(z.string(expected('un nom')), expected('une liste de noms')).default([]),
  },
  expected('un objet { fields, secrets? }'),
)

/** More of them would disturb the service. */
const MOST_TASKS = 20

export const TaskDeclaration = z.strictObject(
  {
    kind: z.literal('task'),
    name: z
      .string(expected('un texte'))
      .regex(/^[a-z][a-z0-9-]{0,62}$/, expected('des minuscules, des chiffres et « - », une lettre d’abord')),
    every: z
      .int(expected('un nombre entier de secondes'))
      .min(LEAST_EVERY, `est trop petit (${LEAST_EVERY} s au moins)`)
      .max(31 * 86_400, 'est trop grand (31 jours au plus)'),
    run: z.custom<TaskDefinition['run']>((value) => typeof value === 'function', expected('une fonction')),
  },
  expected('un objet { name, every, run }'),
)

export function checkSettings(
  id: string,
  functions: readonly AnyFunction[],
  [first, another]: readonly Declared<z.infer<typeof SettingsDeclaration>>[],
): SettingsDefinition | undefined {
  if (!first) return undefined
  if (another) throw another.wrong('des réglages sont déjà déclarés')
  const { fields, secrets } = first.value
  const fault = settingsFault({ fields, secrets })
  if (fault !== undefined) throw first.wrong(fault)
  const path = `/api/modules/${id}/settings`
  if (functions.some((fn) => fn.path === path)) throw first.wrong(`une fonction a déjà l’adresse ${path}`)
  return { fields, secrets }
}

export function checkTasks(declared: readonly Declared<z.infer<typeof TaskDeclaration>>[]): TaskDefinition[] {
  const names = new Set<string>()
  return declared.map(({ value: { name, every, run }, wrong }, index) => {
    if (names.has(name)) throw wrong(`une tâche s’appelle déjà ${name}`)
    if (index >= MOST_TASKS) throw wrong(`un module a ${MOST_TASKS} tâches au plus`)
    names.add(name)
    return { name, every, run }
  })
}

const TITLE = { fr: 'Réglages', en: 'Settings' }
/** The fields of one form, and the sections of one page. */
const MOST = 20

/** Adds a form with the settings to the page of a module, which may have none, unless the page has such a form itself. */
export function withSettingsForm(
  id: string,
  { fields, secrets }: SettingsDefinition,
  page: PageDeclaration | undefined,
): PageDeclaration | undefined {
  const sections = page?.sections ?? []
  const call = `PATCH /api/modules/${id}/settings`
  const names = Object.keys(fields.shape)
  const has = sections.some((section) => section.kind === 'form' && section.call === call)
  if (has || sections.length >= MOST) return page
  const form = {
    kind: 'form' as const,
    title: TITLE,
    call,
    from: `GET /api/modules/${id}/settings`,
    fields: names
      .slice(0, MOST)
      .map((field) => ({ field, ...(secrets.includes(field) && { as: 'password' as const }) })),
  }
  return { ...page, kind: 'page', sections: [...sections, form] }
}
