import * as z from 'zod'
import { AUDIT_ACTIONS, ERRORS } from '../../functions/services.ts'
import { parseDeclarations } from '../../modules/declarations.ts'
import { ModuleError } from '../../modules/faults.ts'

const KNOWN = { errors: ERRORS, actions: AUDIT_ACTIONS }
/** The module of the tests of pages: a list, settings, and endpoints that pages cannot use. */
export const ROOT = '/api/modules/probe'

const READ = { method: 'GET', auth: 'user', rateLimit: false, handler: () => ({}) }
const WRITE = { method: 'POST', auth: 'user', rateLimit: false, audit: false, handler: () => ({}) }
const Site = z.object({ id: z.number(), name: z.string(), owner: z.object({ name: z.string() }) })
const Settings = z.object({
  host: z.string().min(1).max(80).meta({ title: 'Hôte' }),
  port: z.int().min(1).max(65_535).default(443),
  note: z.string().nullable().optional(),
  mode: z.enum(['fast', 'safe']).describe('The way'),
  active: z.boolean().optional(),
})

export const FUNCTIONS = [
  { ...READ, path: `${ROOT}/sites`, response: z.object({ items: z.array(Site), open: z.record(z.string(), z.any()) }) },
  { ...READ, path: `${ROOT}/list`, response: z.array(Site) },
  { ...READ, path: `${ROOT}/text`, response: z.string(), contentType: 'text/plain' },
  { ...READ, path: `${ROOT}/asked`, response: Site, request: { query: z.object({ of: z.string() }) } },
  { ...READ, path: `${ROOT}/sites/:id`, response: Site, request: { params: z.object({ id: z.string() }) } },
  { ...WRITE, path: `${ROOT}/check`, response: z.object({}) },
  { ...WRITE, path: `${ROOT}/settings`, response: z.object({}), request: { body: Settings } },
  {
    ...WRITE,
    path: `${ROOT}/lists`,
    response: z.object({}),
    request: { body: z.object({ all: z.array(z.string()) }) },
  },
  {
    ...WRITE,
    method: 'DELETE',
    path: `${ROOT}/sites/:id`,
    response: z.object({}),
    request: { params: z.object({ id: z.string() }) },
  },
  {
    ...WRITE,
    path: `${ROOT}/rename`,
    response: z.object({}),
    request: { body: z.object({ id: z.number(), name: z.string(), force: z.boolean().optional() }) },
  },
  {
    ...WRITE,
    path: `${ROOT}/sites/:slug/stop`,
    response: z.object({}),
    request: { params: z.object({ slug: z.string() }) },
  },
]

export const parse = (...pages: unknown[]) => parseDeclarations('probe', [...FUNCTIONS, ...pages], KNOWN)
export const page = (...sections: unknown[]) => parse({ kind: 'page', sections }).page

export function fault(...pages: unknown[]): string {
  try {
    parse(...pages)
  } catch (error) {
    if (error instanceof ModuleError) return error.message
    throw error
  }
  return ''
}

export const sectionFault = (...sections: unknown[]) =>
  fault({ kind: 'page', sections }).replace(/^déclaration \d+ \(page\) : /, '')

export const table = (more: object = {}) => ({
  kind: 'table',
  from: `GET ${ROOT}/sites`,
  rows: 'items',
  key: 'id',
  columns: [{ field: 'name', label: 'Name' }],
  ...more,
})
export const form = (more: object = {}) => ({ kind: 'form', call: `POST ${ROOT}/settings`, ...more })
export const button = (more: object = {}) => ({ kind: 'action', label: 'Check', call: `POST ${ROOT}/check`, ...more })
