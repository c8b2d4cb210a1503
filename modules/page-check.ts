/*
 * Checks a page against the endpoints of its module, when the module is loaded: a page with a misspelt call or field
 * would fail only before the eyes of whoever opens it.
 */

import type { AnyFunction } from '../runtime/function.ts'
import { Faults } from './faults.ts'
import type { ModulePage, PageSection } from './page.ts'
import type { PageDeclaration, SectionDeclaration } from './page-declaration.ts'
import { formFields } from './page-form.ts'
import { entriesOf, fieldOf, fieldsOf, type Node, nodeOf } from './page-schema.ts'

/** Throws a fault as a French sentence. */
type Wrong = (fault: string) => Error

/** Returns the page for the panel. `wrong` creates the error of a fault. */
export function checkPage(declared: PageDeclaration, functions: readonly AnyFunction[], wrong: Wrong): ModulePage {
  const byCall = new Map(functions.map((fn) => [callOf(fn), fn]))
  const faults = new Faults()
  const sections = declared.sections.flatMap((section, at) => {
    const inSection = (fault: string) => wrong(`« sections.${at} » ${fault}`)
    return faults.in(() => [checkSection(section, byCall, inSection)]) ?? []
  })
  faults.throw()
  return { title: declared.title ?? null, sections }
}

/** The name of an endpoint in a page: its method and its address. */
export function callOf({ method, path }: AnyFunction): string {
  return `${method} ${path}`
}

type Functions = ReadonlyMap<string, AnyFunction>

function checkSection(section: SectionDeclaration, functions: Functions, wrong: Wrong): PageSection {
  const endpoint = (field: string, call: string): AnyFunction => {
    const found = functions.get(call)
    if (!found) throw wrong(`« ${field} » nomme une fonction que le module ne déclare pas : ${call}`)
    if (asksQuery(found)) throw wrong(`« ${field} » nomme une fonction dont la requête exige des paramètres : ${call}`)
    return found
  }
  const plain = (field: string, call: string): AnyFunction => {
    const found = endpoint(field, call)
    if (paramsOf(found).length > 0) throw wrong(`« ${field} » ne peut pas avoir de paramètre dans l’adresse : ${call}`)
    return found
  }
  const answer = (call: string): Node => {
    const found = plain('from', call)
    if (found.contentType !== undefined) throw wrong(`« from » nomme une fonction qui ne répond pas en JSON : ${call}`)
    return nodeOf(found.response, 'output')
  }
  const expectFields = (field: string, names: readonly string[], node: Node) => {
    for (const name of names)
      if (!fieldOf(node, name)) throw wrong(`« ${field} » nomme « ${name} », qui n’est pas dans la réponse`)
  }

  switch (section.kind) {
    case 'text':
      return section
    case 'facts':
      expectFields('fields', fieldNames(section.fields), answer(section.from))
      return { ...section, title: section.title ?? null, refresh: section.refresh ?? null }
    case 'action': {
      const { label, help = null, call, confirm = null, danger } = section
      const { request: { body } = {} } = plain('call', call)
      const required = body ? requiredIn(nodeOf(body, 'input')) : []
      if (required.length > 0)
        throw wrong(`« call » exige dans son corps ${required.join(', ')} : un formulaire le peut`)
      return { kind: 'action', label, help, call, body: body !== undefined, confirm, danger }
    }
    case 'form': {
      const { kind, title = null, call, from = null, submit = null } = section
      const { request: { body } = {} } = plain('call', call)
      if (!body) throw wrong(`« call » nomme une fonction sans corps : ${call}`)
      const fields = formFields(body, section.fields, wrong)
      if (from !== null) answer(from)
      return { kind, title, call, from, submit, fields }
    }
    case 'table': {
      const { kind, title = null, from, rows, key, columns, empty = null, refresh = null } = section
      const place = fieldOf(answer(from), rows)
      const row = place && entriesOf(place)
      if (!row)
        throw wrong(
          rows ? `« rows » ne mène pas à une liste : « ${rows} »` : '« rows » manque : la réponse n’est pas une liste',
        )
      expectFields('key', [key], row)
      expectFields('columns', fieldNames(columns), row)
      const actions = section.actions.map(({ label, call, confirm = null, danger }, at) => {
        const fn = endpoint(`actions.${at}.call`, call)
        const params = paramsOf(fn)
        expectFields(`actions.${at}.call`, params, row)
        const body = fn.request?.body && nodeOf(fn.request.body, 'input')
        if (body) expectFields(`actions.${at}.call`, requiredIn(body), row)
        const taken = body && (fieldsOf(body) ?? []).filter(({ name }) => fieldOf(row, name))
        return { label, call, params, body: taken?.map(({ name }) => name) ?? null, confirm, danger }
      })
      return { kind, title, from, rows, key, columns, actions, empty, refresh }
    }
  }
}

const fieldNames = (fields: readonly { field: string }[]) => fields.map(({ field }) => field)

const paramsOf = ({ path }: AnyFunction) => Array.from(path.matchAll(/\/:(\w+)/g), ([, name = '']) => name)

function requiredIn(body: Node): string[] {
  return (fieldsOf(body) ?? []).flatMap(({ name, required }) => (required ? [name] : []))
}

function asksQuery({ request: { query } = {} }: AnyFunction): boolean {
  return query !== undefined && requiredIn(nodeOf(query, 'input')).length > 0
}
