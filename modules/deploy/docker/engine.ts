/*
 * Queries to a Docker Engine: which container this one is, and whether another one serves. A refusal differs from a
 * missing answer, so that a pause of the engine does not undo a swap.
 */

import { readFile, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import type Docker from 'dockerode'
import * as z from 'zod'

export type Inspected = Docker.ContainerInspectInfo

/** Maximum silence of the engine; stopping a container, its slowest answer, takes less. */
const SILENCE_MS = 60_000

/** Connects to the engine at a socket. The client is loaded only here, because most services do not need it. */
export async function connectEngine(socketPath: string): Promise<Docker> {
  const { default: Engine } = await import('dockerode')
  return new Engine({ socketPath, timeout: SILENCE_MS })
}

/** Returns whether the engine refused with one of these codes: 404 not found, 304 already so, 409 in progress. */
export function isRefusal(error: unknown, ...codes: number[]): boolean {
  return error instanceof Error && 'statusCode' in error && codes.some((code) => error.statusCode === code)
}

/** Returns whether an error is an answer of the engine. */
export function hasAnswered(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
}

/** Waits for work, and ignores refusals with these codes. */
export async function tolerate(codes: readonly number[], work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!isRefusal(error, ...codes)) throw error
  })
}

/** Inspects a container by its id or name; undefined when there is none. */
export async function inspectIfThere(engine: Docker, id: string): Promise<Inspected | undefined> {
  try {
    return await engine.getContainer(id).inspect()
  } catch (error) {
    if (isRefusal(error, 404)) return undefined
    throw error
  }
}

/**
 * Finds the container that this process runs in. Its host name is its id only by default; the files that the engine
 * mounts over /etc and the control groups contain the id as well. Undefined when the engine knows none of these.
 */
export async function ownContainer(engine: Docker): Promise<Inspected | undefined> {
  const read = (file: string) => readFile(file, 'utf8').catch(() => '')
  const names = idsFrom(await read('/proc/self/mountinfo'), await read('/proc/self/cgroup'), hostname())
  for (const id of names) {
    const found = await inspectIfThere(engine, id)
    if (found?.State.Running && found.Id.startsWith(id)) return found
  }
  return undefined
}

/** Returns possible container ids, the most certain first, from proc(5)'s mountinfo and cgroup and the host name. */
export function idsFrom(mountinfo: string, cgroup: string, name: string): string[] {
  const mounted = /\/containers\/([0-9a-f]{64})\/\S+ \/etc\/(?:hostname|hosts|resolv\.conf) /g
  const group = /[/-]([0-9a-f]{64})(?:\.scope)?$/gm
  const found = [...mountinfo.matchAll(mounted), ...cgroup.matchAll(group)].flatMap(([, id]) => id ?? [])
  return [...new Set(/^[0-9a-f]{12}$/.test(name) ? [...found, name] : found)]
}

/** Returns the last lines of a container's log; none when the log cannot be read. */
export async function lastLogLines(engine: Docker, { Id, Config }: Inspected): Promise<string[]> {
  try {
    const bytes = await engine.getContainer(Id).logs({ stdout: true, stderr: true, tail: 50 })
    // dockerode parses a terminal's output when all of it is JSON.
    if (!Buffer.isBuffer(bytes)) return [JSON.stringify(bytes)]
    const plain = Config.Tty ? bytes : Buffer.concat([...frames(bytes)])
    return plain
      .toString()
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '')
  } catch (error) {
    if (!hasAnswered(error)) throw error
    return []
  }
}

/**
 * Splits the log of a container without a terminal: each frame has a head of 8 bytes, whose last four are its length.
 */
function* frames(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at + 8 <= bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at + 4)
    yield bytes.subarray(at + 8, end)
    at = end
  }
}

/** Runs a program inside a container and returns its output. */
export async function runInside(engine: Docker, id: string, words: string[]): Promise<string> {
  const run = await engine.getContainer(id).exec({ Cmd: words, AttachStdout: true, AttachStderr: true, Tty: true })
  return text(await run.start({ Tty: true }))
}

/** Returns the engine behind a socket and the container of this process. Rejects with a remedy, in French. */
export async function reachEngine(socket: string): Promise<{ engine: Docker; self: Inspected }> {
  try {
    const engine = await connectEngine(socket)
    const self = await ownContainer(engine)
    if (!self) throw new Error('le moteur Docker ne connaît pas de conteneur où ce service s’exécuterait')
    return { engine, self }
  } catch (error) {
    throw new Error(await remedy(error, socket), { cause: error })
  }
}

async function remedy(error: unknown, socket: string): Promise<string> {
  const isRefused = error instanceof Error && 'code' in error && error.code === 'EACCES'
  const gid = isRefused ? await groupOf(socket) : undefined
  if (gid !== undefined)
    return `le compte du service n’a pas accès au moteur Docker : recréez le conteneur avec le groupe de ${socket} (« --group-add ${gid} », pour Compose « group_add: ['${gid}'] »).`
  const reason = error instanceof Error ? error.message : String(error)
  return `réparez l’accès au moteur Docker par ${socket} (${reason}), puis redémarrez le service.`
}

/** Returns the group of the socket; undefined when this account may not even open its folder. */
async function groupOf(socket: string): Promise<number | undefined> {
  return (await stat(socket).catch(() => undefined))?.gid
}

/** A service starts within seconds even on a slow machine; after this time, the new module has blocked it. */
const START_MS = 60_000
const ASK_MS = 500
/** Matches lines that explain nothing to people: JSON of the log, stack frames, Node's version. */
const NO_REASON = /^(\{|\s+at |Node\.js v)/

/**
 * Waits until a container serves, by running the program inside it. Returns why it does not, in French. A service whose
 * `boot_id` is still `boot` has not restarted yet.
 */
export async function waitUntilServing(
  engine: Docker,
  { boot, program }: { boot: string; program: readonly string[] },
  id: string,
): Promise<string | undefined> {
  const until = performance.now() + START_MS
  for (;;) {
    const found = await inspectIfThere(engine, id)
    if (!found) return 'le conteneur a disparu'
    const { State } = found
    if (!State.Running && !State.Restarting) {
      if (State.OOMKilled) return 'il s’est arrêté au démarrage : la mémoire du conteneur n’a pas suffi'
      const last = (await lastLogLines(engine, found)).findLast((line) => !NO_REASON.test(line)) ?? ''
      return `il s’est arrêté au démarrage (code ${State.ExitCode})${last && ` : ${last}`}`
    }
    if (State.Running && (await serves(engine, id, program, boot))) return undefined
    if (performance.now() > until) return `il n’a pas démarré en ${START_MS / 1000} s`
    await pause(ASK_MS)
  }
}

const Health = z.object({ status: z.literal('ok'), boot_id: z.string() })

async function serves(engine: Docker, id: string, program: readonly string[], boot: string): Promise<boolean> {
  try {
    const answer = await runInside(engine, id, [...program, 'health'])
    const health = Health.safeParse(JSON.parse(answer))
    return health.success && health.data.boot_id !== boot
  } catch (error) {
    // The container has ended meanwhile, or the program has printed something else.
    if (hasAnswered(error) || error instanceof SyntaxError) return false
    throw error
  }
}
