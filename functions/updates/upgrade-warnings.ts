import { setImmediate as nextTurn } from 'node:timers/promises'
import { noteWarnings } from '../../db/jobs.ts'
import type { Statement } from '../../db/libsql/database.ts'
import { readOutput } from '../../db/output.ts'
import type { EndedJob } from '../../jobs/jobs.ts'
import { repositoryFindings } from '../findings/repository-findings.ts'
import { PARTLY_REFRESHED } from './apt.ts'

/** Warnings of one job, and characters of each. */
const MOST_WARNINGS = 50
const LONGEST = 300
/** The output of a refresh is at the beginning, and never longer than this many bytes. */
const MOST_READ = 4 * 1024 * 1024
const PIECE = 256 * 1024
const LINES_PER_TURN = 500
/** Characters of one line, and lines with a warning or an error. */
const LINE = 1000
const MOST_LINES = 200

/**
 * Makes the statements that store the warnings of an ended upgrade: one for each repository that could not be
 * refreshed, or one for each such container in an upgrade of all. A container's output cannot give one to another
 * container, because only the noted parts count there.
 */
export async function warningStatements({ db, row }: EndedJob): Promise<Statement[]> {
  const all = row.parts ? containersOf(row.parts) : await repositoriesOf({ db, row })
  const warnings = [...new Set(all.map((text) => text.slice(0, LONGEST)))].slice(0, MOST_WARNINGS)
  return warnings.length > 0 ? [noteWarnings(row, warnings)] : []
}

function containersOf(parts: NonNullable<EndedJob['row']['parts']>): string[] {
  return parts
    .filter(({ state }) => state === 'warned')
    .map(({ id, name }) => {
      const container = name === '' || name === id ? id : `${id} (${plain(name.slice(0, 100))})`
      return `LXC ${container} : des dépôts n’ont pas pu être actualisés, et ce qu’ils proposent de nouveau n’a pas été installé.`
    })
}

async function repositoriesOf(ended: Pick<EndedJob, 'db' | 'row'>): Promise<string[]> {
  const refresh = await refreshLines(ended)
  if (!refresh) return []
  const found = repositoryFindings(refresh.lines).map(({ repository }) => sentenceOf(repository))
  if (found.length > 0) return found
  // The other managers say it in words of their own, so the names of the summary count.
  const named = refresh.names.split(', ').filter((name) => /[^ \u2026]/.test(name))
  return named.length > 0 ? named.map(sentenceOf) : [SOME]
}

function sentenceOf(repository: string | null): string {
  return repository === null
    ? SOME
    : `Le dépôt ${repository.slice(0, 200)} n’a pas pu être actualisé : ce qu’il propose de nouveau n’a pas été installé.`
}

const SOME = 'Des dépôts n’ont pas pu être actualisés : ce qu’ils proposent de nouveau n’a pas été installé.'

/** The warnings and errors of apt about a refresh that was not whole, and the names in its summary. */
interface PartlyRefreshed {
  lines: string[]
  names: string
}

/** Reads what the output tells about a refresh that was not whole; undefined for a whole one. */
async function refreshLines({ db, row }: Pick<EndedJob, 'db' | 'row'>): Promise<PartlyRefreshed | undefined> {
  const found: string[] = []
  const decoder = new TextDecoder()
  const end = Math.min(row.output_size, row.output_from + MOST_READ)
  let rest = ''
  for (let at = row.output_from; at < end; ) {
    const chunks = await readOutput(db, row.id, at, Math.min(PIECE, end - at))
    const last = chunks.at(-1)
    if (!last) return undefined
    at = last.offset + last.bytes.length
    const lines = (rest + decoder.decode(Buffer.concat(chunks.map(({ bytes }) => bytes)), { stream: true })).split('\n')
    rest = (lines.pop() ?? '').slice(0, LINE)
    for (const [n, line] of lines.entries()) {
      if (n % LINES_PER_TURN === 0) await nextTurn()
      if (line.startsWith(PARTLY_REFRESHED)) return partly(found, line)
      if (!/^[EW]: /.test(line)) continue
      if (found.length >= MOST_LINES) found.shift()
      found.push(plain(line.slice(0, LINE)))
    }
  }
  return rest.startsWith(PARTLY_REFRESHED) ? partly(found, rest) : undefined
}

function partly(lines: string[], summary: string): PartlyRefreshed {
  return { lines, names: plain(summary.slice(PARTLY_REFRESHED.length, LINE)) }
}

/** Removes control and format characters: a target must not move the reader's cursor or reverse the text. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
}
