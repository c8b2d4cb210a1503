import { setImmediate as nextTurn } from 'node:timers/promises'
import { compareDebianVersions } from '../vulnerabilities/debian-version.ts'
import { CHANGELOG_BYTES } from './changelog-script.ts'

/** One version in a changelog. `date` is RFC 3339 in UTC, and null when the file has no readable one. */
export interface ChangelogEntry {
  version: string
  urgency: string | null
  date: string | null
  text: string
}

/** Names of packages, with the architecture where it is a foreign one, and versions; of dpkg and of other managers. */
export const PACKAGE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_+.@-]{0,127}(:[A-Za-z0-9_-]{1,32})?$/
export const PACKAGE_VERSION = /^[0-9A-Za-z][0-9A-Za-z.+~:_^@-]{0,255}$/

/** Lines read in one turn of the event loop. */
const LINES_PER_TURN = 500
/** Most entries of one file. The longest changelog in Debian has some hundreds. */
const MAX_ENTRIES = 2_000
const MAX_LINE = 4_096
/** Characters of one entry; the rest of a longer one is left out. */
const MAX_TEXT = 64 * 1024
/** Entries of a package that is not installed yet. */
const OF_NEW = 20

/** The first line of an entry: `package (version) distributions; urgency=medium`. */
const HEADING = /^[a-z0-9][a-z0-9+.-]* \(([0-9A-Za-z][0-9A-Za-z.+~:-]*)\)( [^;]*)?(;.*)?$/i
const URGENCY = /\burgency=([a-z]{1,20})\b/i
const SIGNATURE = ' -- '

/**
 * Reads a debian/changelog, whose format deb-changelog(5) describes, newest entry first. Lines outside of an entry are
 * left out. Control characters become spaces.
 */
export async function parseChangelog(text: string): Promise<ChangelogEntry[]> {
  const entries: ChangelogEntry[] = []
  let open: { version: string; urgency: string | null; lines: string[]; length: number } | undefined
  const close = (date: string | null) => {
    if (open) entries.push({ version: open.version, urgency: open.urgency, date, text: textOf(open.lines) })
    open = undefined
  }
  const lines = text.slice(0, CHANGELOG_BYTES).split('\n')
  for (const [at, line] of lines.entries()) {
    if (at % LINES_PER_TURN === 0) await nextTurn()
    if (entries.length >= MAX_ENTRIES) break
    const part = line.slice(0, MAX_LINE).trimEnd()
    const heading = part.startsWith(' ') ? null : HEADING.exec(part)
    if (heading) {
      close(null)
      const urgency = URGENCY.exec(heading[3] ?? '')?.[1]?.toLowerCase() ?? null
      open = { version: (heading[1] ?? '').slice(0, 256), urgency, lines: [], length: 0 }
    } else if (part.startsWith(SIGNATURE)) close(dateOf(part))
    else if (open && (part.startsWith(' ') || part === '')) {
      open.length += part.length + 1
      if (open.length <= MAX_TEXT) open.lines.push(withoutControls(part))
    }
  }
  close(null)
  return entries
}

/**
 * Returns the entries that are newer than `from` and not newer than `to`, newest first. The first entry that is not
 * newer than `from` is the end. An empty `from` stands for a package that is not installed: its newest 20 entries. A
 * package may have another version than the source with the changelog; then the newest entry stands for the change.
 */
export function entriesBetween(entries: readonly ChangelogEntry[], from: string, to: string): ChangelogEntry[] {
  const until = from === '' ? -1 : entries.findIndex(({ version }) => compareDebianVersions(version, from) <= 0)
  const wanted = (until < 0 ? entries : entries.slice(0, until)).filter(
    ({ version }) => compareDebianVersions(version, to) <= 0,
  )
  if (from === '') return (wanted.length > 0 ? wanted : entries).slice(0, OF_NEW)
  const [newest] = entries
  return wanted.length > 0 || !newest || newest.version === withoutRebuild(to) ? wanted : [newest]
}

/** Returns the version of the source: a rebuild of the package alone adds `+b1`. */
function withoutRebuild(version: string): string {
  return version.replace(/\+b\d{1,9}$/, '')
}

/** The date after the maintainer, `Fri, 30 May 2025 18:44:10 +0200`, which RFC 5322 defines. */
function dateOf(signature: string): string | null {
  const at = signature.lastIndexOf('>  ')
  const moment =
    at < 0
      ? Number.NaN
      : Date.parse(
          signature
            .slice(at + 3)
            .trim()
            .slice(0, 64),
        )
  return Number.isNaN(moment) ? null : new Date(moment).toISOString()
}

function textOf(lines: readonly string[]): string {
  let [from, to] = [0, lines.length]
  while (from < to && lines[from] === '') from += 1
  while (to > from && lines[to - 1] === '') to -= 1
  return lines.slice(from, to).join('\n')
}

function withoutControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ').trimEnd()
}
