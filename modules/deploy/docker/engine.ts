import { readFile, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import type Docker from 'dockerode'
import * as z from 'zod'

export type Inspected = Docker.ContainerInspectInfo

/** Longer than the engine takes to stop a container; one that says nothing for so long is not there. */
const SILENCE_MS = 60_000

/** The engine that listens on a socket. Loaded where it is used alone: the others need none of it. */
export async function connectEngine(socketPath: string): Promise<Docker> {
  const { default: Engine } = await import('dockerode')
  return new Engine({ socketPath, timeout: SILENCE_MS })
}

/** Whether the engine refused with one of these: 404 there is none, 304 it is so already, 409 it is under way. */
export function isRefusal(error: unknown, ...codes: number[]): boolean {
  return error instanceof Error && 'statusCode' in error && codes.some((code) => error.statusCode === code)
}

/** Whether the engine answered at all. */
export function hasAnswered(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
}

/** Does what may be done already. */
export async function unless(codes: readonly number[], work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!isRefusal(error, ...codes)) throw error
  })
}

export async function inspectIfThere(engine: Docker, id: string): Promise<Inspected | undefined> {
  try {
    return await engine.getContainer(id).inspect()
  } catch (error) {
    if (isRefusal(error, 404)) return undefined
    throw error
  }
}

/**
 * The container that this process runs in. The host's name is its id only by default; the files that the engine mounts over
 * /etc, and the control groups, name it as well. Undefined when the engine knows none of these.
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

/** What may be the container's id, the surest first, by proc(5)'s mountinfo and cgroup and the host's name. */
export function idsFrom(mountinfo: string, cgroup: string, name: string): string[] {
  const mounted = /\/containers\/([0-9a-f]{64})\/\S+ \/etc\/(?:hostname|hosts|resolv\.conf) /g
  const group = /[/-]([0-9a-f]{64})(?:\.scope)?$/gm
  const found = [...mountinfo.matchAll(mounted), ...cgroup.matchAll(group)].flatMap(([, id]) => id ?? [])
  return [...new Set(/^[0-9a-f]{12}$/.test(name) ? [...found, name] : found)]
}

/** The last lines that a container has written; none where its log cannot be read. */
export async function lastLines(engine: Docker, { Id, Config }: Inspected): Promise<string[]> {
  try {
    const bytes = await engine.getContainer(Id).logs({ stdout: true, stderr: true, tail: 50 })
    // A terminal's only line that is JSON comes parsed.
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

/** Without a terminal each piece has a head of 8 bytes, whose last four are its length. */
function* frames(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at + 8 <= bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at + 4)
    yield bytes.subarray(at + 8, end)
    at = end
  }
}

/** What a program writes that is run inside a container. */
export async function runInside(engine: Docker, id: string, words: string[]): Promise<string> {
  const run = await engine.getContainer(id).exec({ Cmd: words, AttachStdout: true, AttachStderr: true, Tty: true })
  return text(await run.start({ Tty: true }))
}

/** The engine behind a socket, and the container that this process runs in. Rejects with what to do, in French. */
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

/** Undefined where not even the folder of the socket is open to this account. */
async function groupOf(socket: string): Promise<number | undefined> {
  return (await stat(socket).catch(() => undefined))?.gid
}

/** A service on a slow machine starts in seconds; one that takes longer has been stopped by what it tries. */
const START_MS = 60_000
const ASK_MS = 500
/** Lines of a log are for machines; what Node says of an error goes on after the line that names it. */
const NO_REASON = /^(\{|\s+at |Node\.js v)/

/**
 * Waits until a container serves, by asking the program inside it; else why it does not, in French. One whose `boot_id` is
 * still `boot` is the service from before.
 */
export async function waitFor(
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
      const last = (await lastLines(engine, found)).findLast((line) => !NO_REASON.test(line)) ?? ''
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
    const said = await runInside(engine, id, [...program, 'health'])
    const health = Health.safeParse(JSON.parse(said))
    return health.success && health.data.boot_id !== boot
  } catch (error) {
    // It has ended meanwhile, or its program has written something else.
    if (hasAnswered(error) || error instanceof SyntaxError) return false
    throw error
  }
}
