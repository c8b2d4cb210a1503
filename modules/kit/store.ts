/*
 * The data of a module in the panel's database: values, secrets and records, each under the module's own id. Bounds keep
 * one module from filling the database of all.
 */

import { moduleRecord, moduleRecords, removeModuleRecord, saveModuleRecord } from '../../db/module-store/records.ts'
import { moduleValue, moduleValues, removeModuleValue, saveModuleValue } from '../../db/module-store/values.ts'
import type { Database } from '../../db/libsql/database.ts'
import { type Clock, timestamp } from '../../platform/clock.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { moduleFailure } from '../codes.ts'

/** The services that a store needs. */
export interface StoreServices {
  db: Database
  secrets: Secrets
  clock: Clock
}

/** One record of a collection. */
export interface ModuleRecord {
  id: string
  value: unknown
  /** When it was stored, RFC 3339 in UTC. */
  updated_at: string
}

/** A module's own table: JSON values by id. */
export interface ModuleRecords {
  /** Stores a value under an id, also in the place of an earlier one. */
  put(id: string, value: unknown): Promise<void>
  get(id: string): Promise<unknown>
  /** Lists records by id, from the last one on with `newest`; the next page begins behind the id `after`. */
  list(page?: { after?: string; limit?: number; newest?: boolean }): Promise<ModuleRecord[]>
  /** Returns whether the record existed. */
  delete(id: string): Promise<boolean>
}

/** The data of a module. Nothing of it is left when the module is removed. */
export interface ModuleStore {
  /** Returns a value, or undefined. */
  get(name: string): Promise<unknown>
  set(name: string, value: unknown): Promise<void>
  delete(name: string): Promise<void>
  /** Returns all values by name. */
  list(): Promise<Record<string, unknown>>
  /** Texts that are encrypted in the database. */
  secrets: {
    get(name: string): Promise<string | undefined>
    set(name: string, text: string): Promise<void>
    delete(name: string): Promise<void>
    /** Returns the names alone. */
    list(): Promise<string[]>
  }
  records(collection: string): ModuleRecords
}

const MOST_VALUES = 1_000
const MOST_SECRETS = 100
const MOST_RECORDS = 100_000
const MAX_BYTES = 64 * 1024
const MOST_LISTED = 1_000
const LISTED = 100

const VALUE = 'value:'
const SECRET = 'secret:'

/** Returns the store of one module. */
export function moduleStore({ db, secrets, clock }: StoreServices, module: string): ModuleStore {
  const now = () => timestamp(clock())
  const save = async (kind: string, name: string, value: string, most: number) => {
    const entry = { module, kind, name, value, secret: kind === SECRET }
    const [changed] = await db.batch([saveModuleValue(entry, most, now())])
    if (!changed) throw moduleFailure('module_store_full', { values: { limit: most } })
  }
  const remove = async (name: string) => void (await db.batch([removeModuleValue(module, name)]))
  const sealedAs = (name: string) => `module:${module}:${name}`
  return {
    async get(name) {
      const text = await moduleValue(db, module, VALUE + checkedName(name))
      return text === undefined ? undefined : JSON.parse(text)
    },
    set: async (name, value) => save(VALUE, checkedName(name), jsonOf(value), MOST_VALUES),
    delete: async (name) => remove(VALUE + checkedName(name)),
    async list() {
      const rows = await moduleValues(db, module, VALUE)
      return Object.fromEntries(rows.map(({ name, value }) => [name.slice(VALUE.length), JSON.parse(value)]))
    },
    secrets: {
      async get(name) {
        const sealed = await moduleValue(db, module, SECRET + checkedName(name))
        return sealed === undefined ? undefined : secrets.open(sealedAs(name), sealed)
      },
      async set(name, text) {
        if (typeof text !== 'string') throw new TypeError('a secret must be a text')
        if (Buffer.byteLength(text) > MAX_BYTES) throw new RangeError('a secret has at most 64 KiB')
        await save(SECRET, checkedName(name), secrets.seal(sealedAs(name), text), MOST_SECRETS)
      },
      delete: async (name) => remove(SECRET + checkedName(name)),
      async list() {
        return (await moduleValues(db, module, SECRET)).map(({ name }) => name.slice(SECRET.length))
      },
    },
    records(name) {
      const collection = checkedName(name)
      return {
        async put(id, value) {
          const record = { module, collection, id: checkedId(id), value: jsonOf(value) }
          if (await saveModuleRecord(db, record, MOST_RECORDS, now())) return
          throw moduleFailure('module_store_full', { values: { limit: MOST_RECORDS } })
        },
        async get(id) {
          const row = await moduleRecord(db, module, collection, checkedId(id))
          return row && JSON.parse(row.value)
        },
        async list({ after, limit = LISTED, newest = false } = {}) {
          if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED)
            throw new RangeError(`limit is a whole number from 1 to ${MOST_LISTED}`)
          const page = { after: after === undefined ? undefined : checkedId(after), limit, newest }
          const rows = await moduleRecords(db, { module, collection }, page)
          return rows.map(({ id, value, updated_at }) => ({ id, value: JSON.parse(value), updated_at }))
        },
        delete: async (id) => removeModuleRecord(db, module, collection, checkedId(id)),
      }
    },
  }
}

const NAME = /^[A-Za-z][\w.-]{0,63}$/

function checkedName(name: unknown): string {
  if (typeof name === 'string' && NAME.test(name)) return name
  throw new TypeError('a name has letters, digits, “_”, “.” and “-”, a letter first, 64 at most')
}

function checkedId(id: unknown): string {
  if (typeof id === 'string' && id !== '' && Buffer.byteLength(id) <= 255 && !/\p{Cc}|\p{Cs}/u.test(id)) return id
  throw new TypeError('the id of a record is a text of 1 to 255 bytes without control characters')
}

/** Throws for values that JSON cannot contain, such as functions and circles. */
function jsonOf(value: unknown): string {
  const text: string | undefined = JSON.stringify(value)
  if (text === undefined) throw new TypeError('the value cannot be stored as JSON')
  if (Buffer.byteLength(text) > MAX_BYTES) throw new RangeError('a stored value has at most 64 KiB as JSON')
  return text
}
