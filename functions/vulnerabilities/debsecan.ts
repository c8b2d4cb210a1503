import { pipeline, Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createInflate } from 'node:zlib'

/** A vulnerability of a source package. `fixedIn` is the version in unstable that fixes it; '' without one. */
export interface Flaw {
  id: string
  urgency: Urgency | null
  fixedIn: string
  /** Versions that have the fix, although they are older than `fixedIn`. */
  others: readonly string[]
}

export type Urgency = 'high' | 'medium' | 'low'

/** The list is damaged, of another format, or longer than the limits. */
export class BrokenList extends Error {
  override readonly name = 'BrokenList'
}

/** Most compressed bytes of a list: several times the size of a real one. */
export const MAX_COMPRESSED = 16 * 1024 * 1024
const MAX_PLAIN = 128 * 1024 * 1024
const PIECE = 64 * 1024
/** Lines read in one turn of the event loop. */
const LINES_PER_TURN = 500
const MAX_LINE = 64 * 1024
/** Characters of the other fixed versions of one package. */
const MAX_OTHERS = 4_096
const MAX_NAMES = 1_000_000
/** Most vulnerabilities of one package. The kernel has the most: some ten thousands. */
const MAX_OF_PACKAGE = 50_000

const HEAD = 'VERSION 1'
/** An id of a vulnerability, of whichever list. */
export const ID = /^[A-Z]{2,12}-[\w-]{1,40}$/
const URGENCIES: Readonly<Record<string, Urgency>> = { H: 'high', M: 'medium', L: 'low' }

/**
 * Reads a compressed list as the security tracker of Debian publishes it for debsecan(1), and returns the
 * vulnerabilities of these source packages. Keeps nothing else of the list in memory. Rejects with a BrokenList.
 */
export async function readDebsecan(
  compressed: Uint8Array,
  sources: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly Flaw[]>> {
  if (compressed.byteLength > MAX_COMPRESSED) throw new BrokenList('too many bytes')
  const list = createListReader(sources)
  const inflate = createInflate()
  // The pipeline reports its error to the reader of `inflate`.
  pipeline(Readable.from(piecesOf(compressed)), inflate, () => {})
  const decoder = new TextDecoder()
  let [rest, size, lines] = ['', 0, 0]
  try {
    for await (const piece of inflate) {
      size += piece.length
      if (size > MAX_PLAIN) throw new BrokenList('too many bytes when decompressed')
      const text = rest + decoder.decode(piece, { stream: true })
      let from = 0
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
        list.take(text.slice(from, end))
        from = end + 1
        lines += 1
        if (lines % LINES_PER_TURN === 0) await nextTurn()
      }
      rest = text.slice(from)
      if (rest.length > MAX_LINE) throw new BrokenList('too long a line')
    }
  } catch (error) {
    if (error instanceof BrokenList) throw error
    throw new BrokenList('not a zlib stream', { cause: error })
  } finally {
    inflate.destroy()
  }
  if (rest !== '') throw new BrokenList('the last line has no end')
  return list.result()
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += PIECE) yield bytes.subarray(at, at + PIECE)
}

/** Reads the parts in order: the head, the vulnerabilities, the packages and the binary packages of each source. */
function createListReader(sources: ReadonlySet<string>) {
  const names: string[] = []
  const found = new Map<string, Flaw[]>()
  let part: 'head' | 'names' | 'packages' | 'binaries' | 'end' = 'head'
  const following = { names: 'packages', packages: 'binaries', binaries: 'end' } as const

  const takePackage = (line: string): void => {
    const [source = '', number = '', flags = '', fixedIn, others] = line.split(',', 5)
    if (
      fixedIn === undefined ||
      others === undefined ||
      others.length > MAX_OTHERS ||
      !/^\d{1,7}$/.test(number) ||
      !/^[BS ].{3,7}$/.test(flags)
    )
      throw new BrokenList('a package in another format')
    const id = names[Number(number)]
    if (id === undefined) throw new BrokenList('a package with an unknown vulnerability')
    // A binary package stands here with its own version, which may differ from that of its source.
    if (flags.startsWith('B') || id === '' || !sources.has(source)) return
    const flaws = found.get(source) ?? []
    if (flaws.length >= MAX_OF_PACKAGE) throw new BrokenList('too many vulnerabilities of one package')
    found.set(copyOf(source), flaws)
    const fixes = others === '' ? [] : others.split(' ').map(copyOf)
    flaws.push({ id: copyOf(id), urgency: urgencyOf(flags), fixedIn: copyOf(fixedIn), others: fixes })
  }

  return {
    take(line: string): void {
      if (part === 'head') {
        if (line !== HEAD) throw new BrokenList('another format')
        part = 'names'
      } else if (part === 'end') throw new BrokenList('lines after the end')
      else if (line === '') part = following[part]
      else if (part === 'names') {
        const id = line.slice(0, Math.max(0, line.indexOf(',')))
        if (names.length >= MAX_NAMES) throw new BrokenList('too many vulnerabilities')
        names.push(ID.test(id) ? copyOf(id) : '')
      } else if (part === 'packages') takePackage(line)
    },
    result(): ReadonlyMap<string, readonly Flaw[]> {
      if (part !== 'binaries' && part !== 'end') throw new BrokenList('a part is missing')
      if (!names.some((name) => name !== '')) throw new BrokenList('no vulnerability')
      return found
    },
  }
}

/** Generators of the list differ in the blanks between the flags; no other flag has the letter of an urgency. */
function urgencyOf(flags: string): Flaw['urgency'] {
  return URGENCIES[/[HML]/.exec(flags.slice(1))?.[0] ?? ''] ?? null
}

/** Copies a text, because a part of a text keeps the whole text in memory. */
function copyOf(part: string): string {
  return Buffer.from(part).toString()
}
