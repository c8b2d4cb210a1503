/*
 * The code of a community script: everything that its update would load from the network, as far as its text tells. It is
 * fetched inside the container, from where the update would load it, and never runs there on the way.
 */
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Host, type Output, script } from '../../ssh/ssh.ts'
import { inContainer } from '../hypervisor/pct.ts'
import { codeIn, type Variables } from './code-addresses.ts'
import { FETCH, type Fetched, MOST_BYTES, MOST_FILES, readFetched } from './fetch-script.ts'

/** One file of the code. */
export interface SourceFile {
  address: string
  digest: string
  size: number
  text: string
}

/**
 * The code of an application. `digest` is of the digests and addresses of all files, the first of which is the one that
 * runs. `refused` are addresses of code, or patterns of such addresses, that a run would not load.
 */
export interface Source {
  address: string
  digest: string
  files: SourceFile[]
  refused: string[]
}

/** The code, or why there is none. Of `failed`, the command itself has failed. */
export type Reading =
  | { kind: 'read'; source: Source }
  | { kind: 'away'; address: string; reason: string }
  | { kind: 'failed'; output: Output }

/** A file may load others, which load others. The deepest ones of the community scripts are of the fourth round. */
const MOST_ROUNDS = 8
/** For all rounds. */
const WITHIN_MS = 150_000

/** The reasons why a script cannot be shown. */
const REASONS = { file: 'not a text', missing: '404', large: `more than ${MOST_BYTES} bytes` }

/** Addresses and patterns that a run is told to refuse. A script with more is none that anybody could read. */
export const MOST_REFUSED = 100

/** Fetches the code of the community script at `address`, inside a container. Rejects with an SshError. */
export async function readSource(
  host: Host,
  { id, address, user }: { id: string; address: string; user: number },
): Promise<Reading> {
  const until = performance.now() + WITHIN_MS
  const files: SourceFile[] = []
  const refused = new Set<string>()
  const seen = new Set([address])
  const known: Variables = new Map()
  let wanted = [address]
  let bytes = 0
  for (let round = 0; wanted.length > 0 && round < MOST_ROUNDS; round += 1) {
    const output = await fetchIn(host, id, wanted, { user, timeoutMs: Math.max(1_000, until - performance.now()) })
    const fetched = output.code === 0 ? await readFetched(output.stdout, wanted.length) : undefined
    if (!fetched) return { kind: 'failed', output }
    const next: string[] = []
    for (const [at, each] of fetched.entries()) {
      const from = wanted[at] ?? ''
      if (each.kind === 'failed') return { kind: 'away', address: from, reason: each.reason }
      const text = each.kind === 'file' ? textOf(each) : undefined
      if (each.kind !== 'file' || text === undefined || bytes + each.text.length > MOST_BYTES) {
        if (from === address) return { kind: 'away', address, reason: REASONS[each.kind] }
        refused.add(from)
        continue
      }
      bytes += each.text.length
      files.push({ address: from, digest: each.digest, size: each.text.length, text })
      const loads = codeIn(text, known)
      await nextTurn()
      for (const pattern of loads.patterns) refused.add(pattern)
      for (const more of loads.addresses) {
        if (seen.has(more)) continue
        if (seen.size >= MOST_FILES) refused.add(more)
        else {
          seen.add(more)
          next.push(more)
        }
      }
    }
    wanted = next
  }
  for (const beyond of wanted) refused.add(beyond)
  if (refused.size > MOST_REFUSED)
    return { kind: 'away', address, reason: `it loads more than ${MOST_REFUSED} pieces of code that cannot be shown` }
  const told = [...refused].sort()
  return { kind: 'read', source: { address, digest: digestOf(files, told), files, refused: told } }
}

/** The digest of all files: it changes with the text and the address of each, and with what a run refuses. */
export function digestOf(files: readonly Pick<SourceFile, 'address' | 'digest'>[], refused: readonly string[]): string {
  const [first, ...rest] = files
  const lines = rest.map(({ address, digest }) => `${digest}  ${address}`).sort()
  const all = [
    ...(first ? [`${first.digest}  ${first.address}`] : []),
    ...lines,
    ...refused.map((each) => `-  ${each}`),
  ]
  return createHash('sha256')
    .update(all.map((line) => `${line}\n`).join(''))
    .digest('hex')
}

async function fetchIn(
  host: Host,
  id: string,
  addresses: readonly string[],
  options: { user: number; timeoutMs: number },
): Promise<Output> {
  const command = inContainer(id, script(FETCH, 'ops-panel-source', ...addresses))
  return host.exec(command, { ...options, rights: 'command' })
}

/** The text of a file; undefined for one that is no UTF-8, or has a NUL: nobody could read what runs. */
function textOf({ text }: Extract<Fetched, { kind: 'file' }>): string | undefined {
  try {
    const read = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(text)
    return read.includes('\0') ? undefined : read
  } catch {
    return undefined
  }
}
