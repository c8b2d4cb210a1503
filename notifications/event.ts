import * as z from 'zod'
import { addEvent } from '../db/notifications/events.ts'
import type { Statement } from '../db/libsql/database.ts'
import { plainLine } from './plain.ts'

/** Every event that people can be told of, by its severity. */
export const SEVERITIES = {
  updates_available: 'info',
  security_updates_available: 'warning',
  upgrade_done: 'info',
  upgrade_failed: 'warning',
  regressed: 'critical',
  rolled_back: 'warning',
  rollback_failed: 'critical',
  reboot_required: 'warning',
  schedule_missed: 'warning',
  schedule_stopped: 'critical',
  check_failed: 'warning',
  host_unreachable: 'critical',
  sign_in_from_new_address: 'warning',
  settings_changed: 'info',
  disk_low: 'warning',
  module_taken_out: 'warning',
} as const satisfies Record<string, Severity>

export const Severity = z.enum(['info', 'warning', 'critical'])
export type Severity = z.infer<typeof Severity>

export type EventName = keyof typeof SEVERITIES
export const EVENT_NAMES = Object.keys(SEVERITIES) as [EventName, ...EventName[]]
export const EventName = z.enum(EVENT_NAMES)

/** Characters of one text of an event, and entries of one list. */
const LONGEST = 300
const MOST = 20

/** A text of a host or a user, as it may be shown: on one line, without characters that change how others are read. */
const Text = z.string().transform((text) => plainLine(text, LONGEST))
const Texts = z.array(Text).transform((texts) => texts.slice(0, MOST))
/** `upgrades` and `security` are all that can be installed; `packages` are the new ones, and `news` is how many there are. */
const Updates = z.object({ name: Text, upgrades: z.int(), security: z.int(), news: z.int(), packages: Texts })
/** The zone in which a schedule tells its times; events of former versions have none. */
const Zone = Text.default('UTC')
/**
 * The name of the host is empty, and so is that of an upgrade of all containers. `by` is null for a schedule. `packages` and `security`
 * count what the plan of the upgrade had, null without one. `application` is the name of the one that was updated, null
 * for packages. `reason` and `regressions` are French sentences of the service; `worse` is how many regressions there are.
 */
const Upgraded = z.object({
  job: Text,
  name: Text,
  application: Text.nullable().default(null),
  by: Text.nullable(),
  schedule: z.object({ run: Text, name: Text, timezone: Zone }).nullable(),
  outcome: Text,
  code: z.int().nullable(),
  reason: Text.nullable(),
  worse: z.int(),
  regressions: Texts,
  packages: z.int().nullable().default(null),
  security: z.int().nullable().default(null),
})
/** The end of a target because of which a run stopped. `reason` is a French sentence. */
const Happened = z.object({ target: Text, name: Text, outcome: Text, reason: Text.nullable() })

/** The facts of each event. The texts are made of them when a notice is sent or shown. */
export const DETAILS = {
  updates_available: Updates,
  security_updates_available: Updates,
  upgrade_done: Upgraded,
  upgrade_failed: Upgraded,
  regressed: Upgraded,
  rolled_back: Upgraded,
  rollback_failed: Upgraded,
  reboot_required: z.object({ name: Text, reasons: Texts }),
  /** `count`: how many times were missed; `due_at` is the newest of them. `reason` is a `MissedReason` of `schedules/`. */
  schedule_missed: z.object({
    schedule: Text,
    name: Text,
    timezone: Zone,
    run: Text,
    due_at: Text,
    count: z.int(),
    reason: Text,
  }),
  /**
   * `reason` is a `StopReason` of `schedules/`; `targets` are those because of which it stopped, and `happened` has those of them of
   * which something is known. `wave` counts from 1.
   */
  schedule_stopped: z.object({
    schedule: Text,
    name: Text,
    timezone: Zone,
    run: Text.nullable(),
    wave: z.int().nullable(),
    waves: z.int(),
    reason: Text,
    targets: Texts,
    happened: z
      .array(Happened)
      .transform((all) => all.slice(0, MOST))
      .default([]),
  }),
  /** `message` is a French sentence; null where the target did not answer. */
  check_failed: z.object({ name: Text, message: Text.nullable() }),
  host_unreachable: z.object({ name: Text, message: Text }),
  sign_in_from_new_address: z.object({ username: Text, address: Text }),
  settings_changed: z.object({ username: Text, keys: Texts }),
  disk_low: z.object({ name: Text, message: Text }),
  /** `message` is a French sentence. */
  module_taken_out: z.object({ module: Text, name: Text, message: Text }),
} as const satisfies Record<EventName, z.ZodType>
export type Details<name extends EventName> = z.infer<(typeof DETAILS)[name]>

/**
 * Something that people may be told of. `key` makes it one event, however often its statement is repeated. `run` groups
 * the events of one run into one notice: the id of a run of plans, or of a schedule's run.
 */
export interface PanelEvent<name extends EventName = EventName> {
  key: string
  /** RFC 3339. */
  at: string
  event: name
  target: string | null
  run?: string | null
  details: Details<name>
}

/**
 * Makes the statement that stores an event, for the transaction of what it tells of. It has no `WHERE`, so `onlyIf` of
 * `db/audit.ts` can make it conditional. A repeated one changes nothing.
 */
export function eventStatement<name extends EventName>({
  event,
  run = null,
  details,
  ...rest
}: PanelEvent<name>): Statement {
  const stored = JSON.stringify(DETAILS[event].parse(details))
  return addEvent({ ...rest, event, severity: SEVERITIES[event], run, details: stored })
}
