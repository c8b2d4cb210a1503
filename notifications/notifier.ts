import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type ChannelRow, findChannel, noteLast, readChannels } from '../db/notifications/channels.ts'
import {
  type ClaimedDelivery,
  claimDelivery,
  dueDeliveries,
  giveBack,
  noteDelivered,
  noteFailed,
  putOff,
} from '../db/notifications/deliveries.ts'
import {
  addNotice,
  type NewDelivery,
  openEvents,
  readEvents,
  removeOldNotices,
  runsAtWork,
} from '../db/notifications/notices.ts'
import { type Database, StorageError } from '../db/libsql/database.ts'
import { type Clock, timestamp } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Secrets } from '../platform/secrets.ts'
import { AHEAD, nextAttempt } from './attempts.ts'
import { type Chosen, chosenOf } from './channel.ts'
import { EventName, Severity } from './event.ts'
import { sealFormerUrls } from './former-channels.ts'
import { closedGroups, grouped, type GroupedEvent, isWanted, OPEN_MS, targetOf, worstOf } from './groups.ts'
import { composeMessage, type ToldEvent } from './message.ts'
import { type Outgoing, SendError, type Taken } from './outgoing.ts'
import { lastLines } from './output.ts'
import { type Quiet, quietUntil } from './quiet.ts'
import { longestAttemptMs, send } from './sending.ts'

export interface Notifier {
  /**
   * Makes notices of the events that are ready, and starts the deliveries that are due; those to one channel go one after
   * another, and channels do not wait for each other. Settles at once, or on demand when what it started has ended.
   */
  tick(): Promise<void>
  /** Sends a message that says that it is a test. Rejects with a SendError when the receiver did not take it. */
  test(channel: ChannelRow): Promise<Taken>
  /** Starts nothing more, and settles when the attempts under way have ended or were broken off. */
  stop(): Promise<void>
}

/** Open events that one call looks at. With more, every group is closed, so that none waits behind the others. */
const MOST_EVENTS = 2_000
/** Due deliveries that one call looks at. */
const MOST_DELIVERIES = 200
/** After this long, work that waits is looked for anew: something critical may have come, which goes first. */
const TURN_MS = 1_000
/** Notices are kept this long, and this many. */
const KEPT_MS = 30 * 24 * 3_600_000
const KEPT = 10_000
const PRUNE_EVERY_MS = 60_000
/** Notices are removed for their age only once the clock has gone steadily for a day: one that is a month ahead would remove all. */
const STEADY_MS = 24 * 3_600_000
/** A larger difference to the monotonic clock is a clock that was set. */
const SET_MS = 60_000
/** How long an attempt may go on when the service stops. Most take a second; the others are repeated. */
const STOP_MS = 3_000
/** On demand, nothing is started later than this after the call: the host of functions ends it at some time. */
const ON_DEMAND_MS = 20_000

/** `hostName` tells how people call the host. `elapsed` is a monotonic clock in milliseconds. `withinMs` bounds an attempt, for tests. */
export function createNotifier({
  db,
  secrets,
  clock,
  log,
  publicUrl,
  hostName = async () => undefined,
  onDemand = false,
  elapsed = () => performance.now(),
  withinMs,
}: {
  db: Database
  secrets: Secrets
  clock: Clock
  log: Log
  publicUrl: string | undefined
  hostName?: () => Promise<string | undefined>
  onDemand?: boolean
  elapsed?: () => number
  withinMs?: number
}): Notifier {
  /** The deliveries under way, by channel. */
  const lanes = new Map<string, Promise<void>>()
  const ending = new AbortController()
  let stopped = false
  let prunedAt = Number.NEGATIVE_INFINITY
  let steadySince = { wall: clock().getTime(), mono: elapsed() }
  let isSealed = false
  const sending = { secrets, clock, ...(withinMs !== undefined && { withinMs }) }

  const prune = async () => {
    if (elapsed() - prunedAt < PRUNE_EVERY_MS) return
    const now = { wall: clock().getTime(), mono: elapsed() }
    prunedAt = now.mono
    const steady = now.mono - steadySince.mono
    if (Math.abs(now.wall - steadySince.wall - steady) > SET_MS) steadySince = now
    const isSteady = now.mono - steadySince.mono >= STEADY_MS
    // No time is before an empty text.
    const before = isSteady ? timestamp(new Date(now.wall - KEPT_MS)) : ''
    await removeOldNotices(db, { before, keep: KEPT })
  }

  const makeNotices = async () => {
    const open = await openEvents(db, MOST_EVENTS)
    if (open.length === 0) return
    const events = open.map((event) => ({ ...event, severity: Severity.catch('warning').parse(event.severity) }))
    const recent = timestamp(new Date(clock().getTime() - OPEN_MS))
    const atWork = await runsAtWork(db, [...new Set(events.flatMap(({ run }) => run ?? []))], { recent })
    const all = open.length === MOST_EVENTS
    const groups = closedGroups(events, { atWork, nowMs: clock().getTime(), all })
    if (groups.length === 0) return
    const channels = (await readChannels(db)).filter(({ enabled }) => enabled)
    const begun = elapsed()
    for (const group of groups) {
      await makeNotice(group, channels)
      if (elapsed() - begun > TURN_MS) return
    }
  }

  const makeNotice = async (group: readonly GroupedEvent[], channels: readonly ChannelRow[]) => {
    const worst = worstOf(group)
    if (!worst) return
    const now = clock()
    const notice = {
      at: timestamp(now),
      event: worst.event,
      severity: worst.severity,
      target: targetOf(group),
      events: group.map(({ id }) => id),
    }
    const deliveries = channels.flatMap((channel) => deliveryTo(channel, group, now) ?? [])
    await addNotice(db, notice, deliveries, randomUUID())
  }

  /** Sends one delivery; settles when it is recorded how that went. */
  const deliver = async (id: string, channelId: string) => {
    const channel = await findChannel(db, channelId)
    if (!channel) return
    const nowMs = clock().getTime()
    const claim = { owner: randomUUID(), leaseMs: longestAttemptMs(channel.kind), nowMs, ...AHEAD }
    const claimed = await claimDelivery(db, id, claim)
    if (!claimed) return
    const note = { channel: channelId, delivery: id, attempts: claimed.attempts }
    try {
      const chosen = chosenOf(channel)
      const events = await eventsOf(claimed)
      const until = quietEnd(events, chosen.quiet, clock())
      if (until) {
        await putOff(db, claimed, until.getTime())
        return
      }
      const message = await messageOf(claimed, events, chosen)
      const { refused } = await send(channel, message, { ...sending, signal: ending.signal })
      await noteDelivered(db, claimed, { at: timestamp(clock()), ok: true, error: refused })
      log.debug(note, 'a notice was delivered')
    } catch (error) {
      if (ending.signal.aborted) {
        await giveBack(db, claimed)
        return
      }
      if (error instanceof StorageError) throw error
      if (!(error instanceof SendError)) log.error({ ...note, err: error }, 'a notice could not be sent')
      const reason = error instanceof SendError ? error.message : 'Une erreur interne est survenue.'
      const now = clock()
      const next = nextAttempt(claimed, now.getTime())
      await noteFailed(db, claimed, next, { at: timestamp(now), ok: false, error: reason })
      if (next === null) log.error({ ...note, reason }, 'a notice is given up: its receiver did not take it for a day')
      else log.warn({ ...note, reason }, 'a notice was not taken, and is sent again')
    }
  }

  const eventsOf = async ({ events }: ClaimedDelivery): Promise<ToldEvent[]> =>
    (await readEvents(db, events)).map((event) => ({
      ...event,
      event: EventName.parse(event.event),
      severity: Severity.parse(event.severity),
    }))

  const messageOf = async (
    { id, notice_at, target }: ClaimedDelivery,
    events: readonly ToldEvent[],
    { language, output }: Chosen,
  ): Promise<Outgoing> => {
    const outputs = output ? { outputs: await lastLines(db, events) } : {}
    const { title, text, link, severity, event } = composeMessage(events, {
      ...{ language, publicUrl, host: await hostName() },
      ...outputs,
    })
    return { id, at: notice_at, title, text, link, severity, event, target }
  }

  /** Works off deliveries of one channel. */
  const lane = async (ids: readonly string[], channel: string, begun: number) => {
    for (const id of ids) {
      if (stopped || elapsed() - begun > (onDemand ? ON_DEMAND_MS : TURN_MS)) return
      await deliver(id, channel)
    }
  }

  const startDue = async () => {
    const nowMs = clock().getTime()
    const due = await dueDeliveries(db, { nowMs, ...AHEAD, but: [...lanes.keys()], most: MOST_DELIVERIES })
    const begun = elapsed()
    for (const [channel, list] of grouped(due, ({ channel_id }) => channel_id)) {
      if (stopped || lanes.has(channel)) continue
      const ids = list.map(({ id }) => id)
      const work = lane(ids, channel, begun)
        .catch((error: unknown) => log.error({ channel, err: error }, 'a delivery could not be recorded'))
        .finally(() => lanes.delete(channel))
      lanes.set(channel, work)
    }
  }

  return {
    async tick() {
      if (stopped) return
      if (!isSealed) await sealFormerUrls({ db, secrets })
      isSealed = true
      await makeNotices()
      await startDue()
      await prune()
      if (onDemand) await Promise.all(lanes.values())
    },
    async test(channel) {
      const note = async (error: string | null, ok: boolean) => {
        await db.batch([noteLast(channel.id, { at: timestamp(clock()), ok, error })])
      }
      try {
        const taken = await send(channel, testMessage(channel, clock()), { ...sending, signal: ending.signal })
        await note(taken.refused, true)
        return taken
      } catch (error) {
        if (error instanceof SendError) await note(error.message, false)
        throw ending.signal.aborted ? new SendError('Le service s’arrête.') : error
      }
    },
    async stop() {
      stopped = true
      const done = Promise.all(lanes.values())
      await Promise.race([done, pause(STOP_MS, undefined, { ref: false })])
      ending.abort(new Error('the service stops'))
      await done
    },
  }

  function testMessage({ name, chosen }: ChannelRow, now: Date): Outgoing {
    const { language } = chosenOf({ chosen })
    const french = language === 'fr'
    return {
      id: randomBytes(12).toString('hex'),
      at: timestamp(now),
      title: french ? 'Essai d’ops-panel' : 'Test of ops-panel',
      text: french
        ? `Le canal « ${name} » fonctionne : les notifications arrivent ici.`
        : `The channel “${name}” works: notifications arrive here.`,
      link: publicUrl ? `${publicUrl}/notifications` : null,
      severity: 'info',
      event: 'test',
      target: null,
    }
  }
}

/** The delivery of a group to a channel; undefined when the channel wants none of its events. */
function deliveryTo(channel: ChannelRow, group: readonly GroupedEvent[], now: Date): NewDelivery | undefined {
  const chosen = chosenOf(channel)
  const wanted = group.filter((event) => isWanted(event, chosen))
  if (wanted.length === 0) return undefined
  const until = quietEnd(wanted, chosen.quiet, now)
  return {
    id: randomBytes(12).toString('hex'),
    channel: channel.id,
    events: wanted.map(({ id }) => id),
    state: until ? 'quiet' : 'waiting',
    nextMs: (until ?? now).getTime(),
  }
}

/** When a notice of these events may be sent, if it has to wait. A critical one never waits. */
function quietEnd(
  events: readonly { event: string; severity: Severity }[],
  quiet: Quiet | null,
  now: Date,
): Date | undefined {
  return quiet === null || worstOf(events)?.severity === 'critical' ? undefined : quietUntil(quiet, now)
}
