import * as z from 'zod'
import { inSlices } from '../managers/sections.ts'
import type { PackageUpdate } from '../managers/package-update.ts'
import { DIFF_BYTES, MOST_COMPARED } from './conffile-scripts.ts'

/**
 * A changed configuration file of a planned package. `state`: `changed` (not compared yet), `conflict` (the package also
 * brings another version), `same` (it brings nothing new for it, so that the file stays), `unavailable` (the package
 * could not be had). `choice`: whether the file stays and the new version is put beside it as `.dpkg-dist`, or the new
 * version takes its place and the file is kept as `.dpkg-old`. `diff`: from the file to the new version, in unified
 * form without its head; null where there is none, with the reason in `diff_missing`. `diff_cut`: the end is left out.
 */
export const Conffile = z.object({
  file: z.string(),
  package: z.string(),
  state: z.enum(['changed', 'conflict', 'same', 'unavailable']),
  choice: z.enum(['keep', 'take']),
  diff: z.string().nullable(),
  diff_cut: z.boolean(),
  diff_missing: z.enum(['binary', 'private', 'hidden']).nullable(),
})
export type Conffile = z.infer<typeof Conffile>

/** As it is stored: `public` when every user of the target's system may read the file. */
const StoredConffile = Conffile.extend({ public: z.boolean() })
export type StoredConffile = z.infer<typeof StoredConffile>

/** Reads the column of the database. */
export function conffilesOf({ conffiles }: { conffiles: string }): StoredConffile[] {
  return z.array(StoredConffile).parse(JSON.parse(conffiles))
}

/** Returns a file as one user sees it: the content of a private file is for administrators. */
export function shownTo({ public: isPublic, ...file }: StoredConffile, isAdmin: boolean): Conffile {
  if (isAdmin || isPublic || file.diff === null) return file
  return { ...file, diff: null, diff_cut: false, diff_missing: 'private' }
}

const FILE = 400
const NAME = /^[a-z0-9][a-z0-9+.-]{1,199}$/

/** Reads the lines `<package> <file>` of `PLAN`. */
export function changedConffiles(lines: readonly string[]): StoredConffile[] {
  return lines.slice(0, MOST_COMPARED).flatMap((line) => {
    const space = line.indexOf(' ')
    const file = line.slice(space + 1)
    const name = line.slice(0, space)
    if (!NAME.test(name) || !isPath(file)) return []
    return [{ ...UNKNOWN, file, package: name, state: 'changed' as const }]
  })
}

const UNKNOWN = { choice: 'keep', diff: null, diff_cut: false, diff_missing: null, public: false } as const

function isPath(text: string): boolean {
  return text.startsWith('/') && text.length < FILE && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFFFD]/u.test(text)
}

/** Returns the packages of changed files as `COMPARE` takes them, at the versions of the plan. */
export function offersOf(files: readonly StoredConffile[], actions: readonly PackageUpdate[]): string[] {
  const owners = new Set(files.map(({ package: name }) => name))
  const offers = actions.flatMap(({ name, arch, to, action }) =>
    owners.has(name) && to !== null && action !== 'install'
      ? [`${arch === 'all' ? name : `${name}:${arch}`}=${to}`]
      : [],
  )
  return offers.slice(0, MOST_COMPARED)
}

const Head = z.object({
  state: z.enum(['conflict', 'same', 'unavailable']),
  access: z.enum(['public', 'private']),
  note: z.enum(['text', 'cut', 'binary', 'hidden']),
  file: z.string(),
})
const HEAD = /^file (?<state>\S+) (?<access>\S+) (?<note>\S+) \S+ (?<file>\/.*)$/
/** More than a diff takes that the target has cut. */
const MOST_BASE64 = 2 * DIFF_BYTES
/** Characters of the diffs of one plan. */
const MOST_CHARACTERS = 512 * 1024

/**
 * Reads the output of `COMPARE` into the changed files of a plan. Leaves out a file that the output does not name: it is
 * as its package brought it, meanwhile. Undefined when the output does not end as it should.
 */
export async function readComparison(
  text: string,
  files: readonly StoredConffile[],
): Promise<StoredConffile[] | undefined> {
  const changed = new Map(files.map((file) => [file.file, file]))
  const found = new Map<string, { head: z.infer<typeof Head>; base64: string }>()
  let name: string | undefined
  let hasEnd = false
  await inSlices(text.split('\n'), (line) => {
    const current = name === undefined ? undefined : found.get(name)
    if (line.startsWith(' ')) {
      if (current && current.base64.length < MOST_BASE64) current.base64 += line.trim()
      return
    }
    if (line === 'end') hasEnd = true
    const head = Head.safeParse(HEAD.exec(line)?.groups).data
    name = head && changed.has(head.file) && !found.has(head.file) ? head.file : undefined
    if (head && name !== undefined) found.set(name, { head, base64: '' })
  })
  if (!hasEnd) return undefined
  let left = MOST_CHARACTERS
  return files.flatMap((file): StoredConffile[] => {
    const one = found.get(file.file)
    if (!one) return []
    const { state, access, note } = one.head
    const row = { ...file, ...UNKNOWN, state, public: access === 'public' }
    if (state !== 'conflict') return [row]
    const choice = file.choice
    if (note === 'binary' || note === 'hidden') return [{ ...row, choice, diff_missing: note }]
    const whole = diffText(one.base64)
    const isCut = note === 'cut' || one.base64.length >= MOST_BASE64
    const diff = whole.slice(0, left)
    left -= diff.length
    return [{ ...row, choice, diff, diff_cut: isCut || diff.length < whole.length }]
  })
}

/** A diff without the control characters that its file may have. */
function diffText(base64: string): string {
  return Buffer.from(base64, 'base64').subarray(0, DIFF_BYTES).toString('utf8').split('\n').map(cleaned).join('\n')
}

/** Blanks at the end of a line can be the difference. */
function cleaned(line: string): string {
  return line.replaceAll('\t', '    ').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
}
