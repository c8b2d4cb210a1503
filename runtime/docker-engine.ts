import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { text } from 'node:stream/consumers'
import type Docker from 'dockerode'

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
