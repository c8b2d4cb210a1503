/*
 * Settings: the values that administrators set once for all instances, kept in the database, with secrets sealed. A
 * change is stored as a whole together with its audit entry, or not at all, and listeners hear of it afterwards. The
 * room must not know which settings exist: rooms and areas declare theirs. After a change that a crash cuts in half, the
 * service could send a password to the wrong host.
 */

import * as z from 'zod'
import type { Database, Statement } from '../db/libsql/database.ts'
import { readSettings, replaceSetting, writeFirstSettings, writeIfEmpty, writeSettings } from '../db/settings.ts'
import { type Clock, timestamp } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { SecretError, type Secrets } from '../platform/secrets.ts'

/** Settings of one subject. A room or an area declares them, and `functions/services.ts` collects all groups. */
export interface SettingGroup<key extends string = string, secret extends key = key> {
  /** The schema of each value. Lists and documents keep this order. */
  fields: Readonly<Record<key, z.ZodType<string>>>
  /** Secret settings are stored sealed and never shown. */
  secrets: readonly secret[]
  /** Shown in place of an empty value. */
  defaults?: Readonly<Partial<Record<key, string>>>
}

export type ValuesOf<key extends string> = Partial<Record<key, string>>

/** The settings in the form that may be shown: a secret appears only as set or not set. */
export type ShownOf<key extends string, secret extends key> = Record<Exclude<key, secret>, string> &
  Record<`${secret}_set`, boolean>

/** A schema for text without NUL, which neither a host nor a database accepts. */
export const settingText = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => !value.includes('\0'), 'caractère interdit')

/** The stored values at one moment. */
export interface StoredSettings<plain extends string, secret extends string> {
  /** Returns a plain value; empty when none is stored. */
  text(key: plain): string
  /** Returns a secret; empty when none is stored, undefined when it cannot be decrypted. */
  secret(key: secret): string | undefined
}

export interface SettingsStore<key extends string, secret extends key> {
  read(): Promise<StoredSettings<Exclude<key, secret>, secret>>
  show(): Promise<ShownOf<key, secret>>
  /** Returns the stored secrets that cannot be decrypted because another key sealed them. */
  unreadable(): Promise<secret[]>
  /** Logs that a secret cannot be decrypted, and returns the cause for a failure. */
  noteUnreadable(key: secret): SecretError
  /**
   * Changes all of the values or none, and returns the keys whose value changed. An empty secret means no change;
   * `removed` ones are no longer set. The audit entry is stored in the same transaction; `audit` builds it from the names of all changed settings and from
   * the old and new values of plain ones, and may add statements about the change.
   */
  change(
    values: ValuesOf<key>,
    audit?: (details: Record<string, string>, changed: readonly key[]) => Statement | Statement[],
    removed?: readonly secret[],
  ): Promise<key[]>
  /**
   * Stores the first settings, without the `removed` secrets; returns false and changes nothing when `mark`, one of
   * them, is set already.
   */
  writeFirst(mark: key, values: ValuesOf<key>, audit?: Statement, removed?: readonly secret[]): Promise<boolean>
  /** Stores values without calling the listeners. */
  fill(values: ValuesOf<key>): Promise<void>
  /**
   * Stores a plain value where none is stored, if another setting has the expected value. Returns whether it was
   * stored. Listeners are not called.
   */
  fillIfEmpty(
    key: Exclude<key, secret>,
    value: string,
    expected: { key: Exclude<key, secret>; value: string },
  ): Promise<boolean>
  /**
   * Stores a secret unless there is one that `counts`, and returns the one that there is then. Of several instances that
   * do so at the same moment, one stores its own. Returns undefined when another change came between. Listeners are not
   * called.
   */
  fillOnce(key: secret, value: string, counts: (stored: string) => boolean): Promise<string | undefined>
  /** Calls `listener` with the keys after each change made by this instance. */
  onChange(listener: (keys: readonly key[]) => void): void
}

export function createSettingsStore<key extends string, secret extends key>(
  { fields, secrets: secretKeys, defaults }: SettingGroup<key, secret>,
  { db, secrets, clock, log }: { db: Database; secrets: Secrets; clock: Clock; log: Log },
): SettingsStore<key, secret> {
  const listeners: ((keys: readonly key[]) => void)[] = []
  const now = () => timestamp(clock())

  const isKey = (name: string): name is key => Object.hasOwn(fields, name)
  const isSecret = (name: key): name is secret => secretKeys.some((each) => each === name)
  const keysOf = (values: object): key[] => Object.keys(values).filter(isKey)
  const shownName = (name: key) => (isSecret(name) ? `${name}_set` : name)
  const isShown = (shown: object): shown is ShownOf<key, secret> =>
    keysOf(fields).every((name) => shownName(name) in shown)

  const openSecret = (values: Map<string, string>, name: secret): string | undefined => {
    const sealed = values.get(name) ?? ''
    if (sealed === '') return ''
    try {
      return secrets.open(name, sealed)
    } catch (error) {
      if (error instanceof SecretError) return undefined
      throw error
    }
  }

  const current = (values: Map<string, string>, name: key): string | undefined =>
    isSecret(name) ? openSecret(values, name) : (values.get(name) ?? '')

  /** Returns the values to store: secrets are sealed, empty secrets are left out. */
  const sealed = (values: ValuesOf<key>): Record<string, string> =>
    Object.fromEntries(
      keysOf(values).flatMap((name) => {
        const value = values[name]
        if (value === undefined || (isSecret(name) && value === '')) return []
        return [[name, isSecret(name) ? secrets.seal(name, value) : value]]
      }),
    )

  const empty = (names: readonly secret[]) => Object.fromEntries(names.map((name) => [name, '']))

  const noteUnreadable = (name: secret): SecretError => {
    log.error(
      `${name} cannot be decrypted: PANEL_SECRET_KEY or secret.key is not the one that encrypted it; bring that key back, or set it anew`,
    )
    return new SecretError(`${name} cannot be decrypted`)
  }

  const tell = (keys: readonly key[]) => {
    for (const listener of listeners) listener(keys)
  }

  /** Returns the details of a change for the audit log: every name, and the old and new value of plain settings. */
  const detailsOf = (
    stored: ReadonlyMap<string, string>,
    given: ValuesOf<key>,
    changed: readonly key[],
  ): Record<string, string> => {
    const noted = (text: string) => (text.length > NOTED ? `${text.slice(0, NOTED)}…` : text)
    const values = changed.flatMap((name) =>
      isSecret(name)
        ? []
        : [
            [`${name}_before`, noted(stored.get(name) ?? '')],
            [`${name}_after`, noted(given[name] ?? '')],
          ],
    )
    return { keys: changed.join(', '), ...Object.fromEntries(values) }
  }

  return {
    async read() {
      const values = await readSettings(db)
      return { text: (name) => values.get(name) ?? '', secret: (name) => openSecret(values, name) }
    },
    async show() {
      const values = await readSettings(db)
      const text = (name: key) => values.get(name) || (defaults?.[name] ?? '')
      const shown = Object.fromEntries(
        keysOf(fields).map((name) => [shownName(name), isSecret(name) ? (values.get(name) ?? '') !== '' : text(name)]),
      )
      if (!isShown(shown)) throw new TypeError('a setting is missing')
      return shown
    },
    async unreadable() {
      const values = await readSettings(db)
      const found = secretKeys.filter((name) => openSecret(values, name) === undefined)
      for (const name of found) noteUnreadable(name)
      return found
    },
    noteUnreadable,
    async change(given, audit, removed = []) {
      const stored = await readSettings(db)
      const written = { ...sealed(given), ...empty(removed) }
      const gone = removed.filter((name) => (stored.get(name) ?? '') !== '')
      const changed = [
        ...keysOf(given).filter((name) => name in written && given[name] !== current(stored, name)),
        ...gone,
      ]
      // Writes every value, including those that seem unchanged: another change may be under way.
      await writeSettings(
        db,
        written,
        now(),
        audit && changed.length > 0 ? [audit(detailsOf(stored, given, changed), changed)].flat() : [],
      )
      if (changed.length === 0) return []
      log.info({ changed }, 'settings changed')
      tell(changed)
      return changed
    },
    async writeFirst(mark, values, audit, removed = []) {
      const first = { ...sealed(values), ...empty(removed) }
      const written = await writeFirstSettings(db, mark, first, now(), audit ? [audit] : [])
      if (written) tell(keysOf(values))
      return written
    },
    fill: (values) => writeSettings(db, sealed(values), now()),
    async fillOnce(name, value, counts) {
      const stored = await readSettings(db)
      const found = openSecret(stored, name) ?? ''
      if (counts(found)) return found
      const before = stored.get(name) ?? ''
      if (await replaceSetting(db, { key: name, value: secrets.seal(name, value), before }, now())) return value
      const other = openSecret(await readSettings(db), name) ?? ''
      return counts(other) ? other : undefined
    },
    fillIfEmpty: (name, value, expected) => writeIfEmpty(db, { key: name, value, expected }, now()),
    onChange(listener) {
      listeners.push(listener)
    },
  }
}

/** Characters of a value in the audit log. Few values can be longer. */
const NOTED = 500
