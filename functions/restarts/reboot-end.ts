import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import type { Concluding, Conclusion } from '../../jobs/jobs.ts'
import { AnswerTooLong, type Host, script, SshError, succeeded } from '../../ssh/ssh.ts'
import { BootId } from '../hypervisor/host-figures.ts'
import { type Container, listContainers } from '../hypervisor/pct.ts'
import { fail } from '../services.ts'
import {
  BACKUP_RUNS,
  LOOK,
  LOOK_MARK,
  OTHER_HOST,
  REBOOT_REFUSED,
  REBOOT_SECONDS,
  STILL_UP,
  TOO_LATE,
} from './reboot-script.ts'
import { NOT_ALLOWED } from './restart-script.ts'

type Asked = Pick<Host, 'exec'>

/**
 * The present boot of the host, as it tells it. `seconds` is its time since 1970; `state` is `stopping` where the host goes
 * down, and `active` when the hypervisor has started the guests that start with the host.
 */
const HostLook = z.object({
  name: z.string().min(1),
  boot: BootId,
  seconds: z.int(),
  backup: z.enum(['backup', 'free']).transform((word) => word === 'backup'),
  state: z.string(),
})
export type HostLook = z.infer<typeof HostLook>

/** Time for an answer of a host that has just come up. */
const LOOK_MS = 20_000

/** Asks the host for its name and boot, and whether a backup runs. Rejects with an SshError. */
export async function lookAtHost(host: Asked, user?: number): Promise<HostLook> {
  const command = script(LOOK, 'ops-panel-boot')
  const text = succeeded(await host.exec(command, { timeoutMs: LOOK_MS, ...(user !== undefined && { user }) }))
  const lines = text.split('\n').map((line) => line.trim())
  const [name, boot, seconds, backup, state, end] = lines.slice(lines.lastIndexOf(LOOK_MARK) + 1)
  const look = HostLook.safeParse({ name, boot, seconds: Number(seconds), backup, state })
  if (look.success && end === 'end' && lines.includes(LOOK_MARK)) return look.data
  throw new SshError('lost', 'l’état de l’hôte est illisible')
}

/** A container that ran before the reboot. */
interface Ran {
  vmid: number
  name: string
}

/** The notes of `REBOOT`. */
interface Noted {
  ran: Ran[]
  /** Whether the containers that ran could not be listed. */
  isUnlisted: boolean
  /** When the reboot was asked for, in seconds since 1970; undefined where it was not, or the note is lost. */
  asked: number | undefined
}

/** More containers than a host has. */
const MOST = 2_000

export function readRebootNotes(notes: readonly string[]): Noted {
  const ran = notes.slice(0, MOST).flatMap((note) => {
    const [, id, name] = /^ran (\d{1,9}) ([A-Za-z0-9.-]{1,63})$/.exec(note) ?? []
    return id === undefined || name === undefined ? [] : [{ vmid: Number(id), name }]
  })
  const [, asked] = /^asked (\d{1,12})$/m.exec(notes.slice(0, MOST + 10).join('\n')) ?? []
  return { ran, isUnlisted: notes.includes('unlisted'), asked: asked === undefined ? undefined : Number(asked) }
}

/** The failures of a reboot that was not asked for, or that did not happen in its time. */
const FAILURES = {
  [OTHER_HOST]: 'confirm_invalid',
  [BACKUP_RUNS]: 'backup_running',
  [TOO_LATE]: 'reboot_late',
  [NOT_ALLOWED]: 'systemctl_not_allowed',
  [REBOOT_REFUSED]: 'reboot_refused',
} as const

/** Exit codes of `REBOOT` after which no other boot is waited for. */
function failureOf(code: number | null) {
  const known = Object.entries(FAILURES).find(([each]) => Number(each) === code)?.[1]
  return known && fail(known)
}

/** The line about a command that ended before it asked for the reboot. */
export const NOT_ASKED = 'Le redémarrage n’a pas été demandé à l’hôte.'

/** A monotonic clock in milliseconds, and its pauses. */
export interface Time {
  now(): number
  pause(ms: number, signal: AbortSignal): Promise<void>
}
const SYSTEM_TIME: Time = {
  now: () => performance.now(),
  pause: (ms, signal) => pause(ms, undefined, { signal }),
}

const AGAIN_MS = 2_000
/** How long the containers that ran are waited for. */
const CONTAINERS_MS = 300_000

/**
 * Waits until the host has another boot than `before`, and then until the containers run again that ran before. An open port
 * proves nothing: systemd ends the command and its connection long before the kernel goes.
 */
export async function rebootEnd(before: string, host: Asked, of: Concluding, time = SYSTEM_TIME): Promise<Conclusion> {
  const { code, notes, answered, tell } = of
  const failure = failureOf(code)
  if (failure) return { lines: [], failure }
  const { ran, isUnlisted, asked } = readRebootNotes(notes)
  const boot = await otherBoot(before, host, { ...of, asked, time })
  if (boot === undefined && code !== null && asked === undefined)
    return { lines: [NOT_ASKED], failure: fail('reboot_refused') }
  if (boot === undefined) return { lines: [], failure: fail('reboot_missing') }
  await tell(`L’hôte a redémarré : ${before} → ${boot}.`)
  const lacking = 'La liste des conteneurs qui tournaient avant le redémarrage manque.'
  if (isUnlisted || asked === undefined) return warned([lacking])
  if (ran.length === 0) return { lines: [] }
  await tell('Attente des conteneurs qui tournaient…')
  const missing = await missingAfter(ran, host, { ...of, answered, time })
  if (!missing) return warned(['Après le redémarrage, la liste des conteneurs n’a pas pu être lue.'])
  const count = `Conteneurs de nouveau en marche : ${ran.length - missing.length} sur ${ran.length}.`
  return warned(missingLines(missing), [count])
}

/** A success whose record has these sentences. */
function warned(warnings: string[], lines: readonly string[] = []): Conclusion {
  return { lines: [...lines, ...warnings], found: { warnings } }
}

/** Returns the id of another boot than `before`; undefined when there is none in time. */
async function otherBoot(
  before: string,
  host: Asked,
  { code, signal, answered, asked, time }: Concluding & { asked: number | undefined; time: Time },
): Promise<string | undefined> {
  const began = time.now()
  for (;;) {
    const { boot, seconds } = await lookAtHost(host)
    answered()
    if (boot !== before) return boot
    const wasNeverAsked = code !== null && asked === undefined
    if (code === STILL_UP || wasNeverAsked || seconds - (asked ?? seconds) >= REBOOT_SECONDS) return undefined
    if (time.now() - began >= REBOOT_SECONDS * 1_000) return undefined
    await time.pause(AGAIN_MS, signal)
  }
}

/** After so many seconds, a host that answers and does not go down does not carry out what was asked. */
const BEGINS_SECONDS = 30
/** How long a host that lets nobody in is tried. */
export const REFUSED_MS = 180_000

/**
 * Waits for a reboot that was asked for at `asked`, in seconds since 1970: until the host has another boot than `before`, or
 * answers and does not go down, at most as long as a reboot may take.
 */
export async function rebootPassed(
  { before, asked }: { before: string; asked: number },
  host: Asked,
  signal: AbortSignal,
  time = SYSTEM_TIME,
): Promise<void> {
  const began = time.now()
  let refused: number | undefined
  while (time.now() - began < REBOOT_SECONDS * 1_000) {
    try {
      const { boot, seconds, state } = await lookAtHost(host)
      if (boot !== before || (state !== 'stopping' && seconds - asked >= BEGINS_SECONDS)) return
    } catch (error) {
      if (!(error instanceof SshError)) throw error
      if (error.reason === 'bad_credentials') refused ??= time.now()
      if (refused !== undefined && time.now() - refused >= REFUSED_MS) return
    }
    await time.pause(AGAIN_MS, signal)
  }
}

/**
 * Returns the containers that do not run again in time, or when the hypervisor has started all that it starts; undefined
 * when they cannot be listed.
 */
async function missingAfter(
  ran: readonly Ran[],
  host: Asked,
  { signal, answered, time }: Pick<Concluding, 'signal' | 'answered'> & { time: Time },
): Promise<readonly Ran[] | undefined> {
  const began = time.now()
  let missing: readonly Ran[] | undefined
  for (;;) {
    // A container that starts after this question is in the list after it.
    const isLast = await startedAll(host)
    const listed = await listedNow(host)
    if (listed) {
      answered()
      const running = new Set(listed.flatMap(({ vmid, status }) => (status === 'running' ? [vmid] : [])))
      missing = ran.filter(({ vmid }) => !running.has(vmid))
    }
    if (missing?.length === 0 || (listed && isLast) || time.now() - began >= CONTAINERS_MS) return missing
    await time.pause(AGAIN_MS, signal)
  }
}

async function startedAll(host: Asked): Promise<boolean> {
  try {
    return (await lookAtHost(host)).state === 'active'
  } catch (error) {
    if (error instanceof SshError) return false
    throw error
  }
}

/** The container tool lists nothing before the hypervisor's own services have started. */
async function listedNow(host: Asked): Promise<Container[] | undefined> {
  try {
    return await listContainers(host, { timeoutMs: LOOK_MS })
  } catch (error) {
    if (error instanceof SshError || error instanceof AnswerTooLong) return undefined
    throw error
  }
}

/** Containers that sentences name. */
const NAMED = 50

function missingLines(missing: readonly Ran[]): string[] {
  const named = missing
    .slice(0, NAMED)
    .map(({ vmid, name }) => `Le conteneur ${vmid} (${name}) tournait avant le redémarrage et ne tourne plus.`)
  const more = missing.length - named.length
  return more > 0 ? [...named, `Conteneurs qui ne tournent plus, en plus : ${more}.`] : named
}
