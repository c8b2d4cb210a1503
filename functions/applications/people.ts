import { ApplicationId, type FoundApplication } from './application.ts'
import type { LookProblem } from './look-problems.ts'

/*
 * The package managers for people, flatpak and snap: what they have installed, and what is newer. They are listed, not
 * run: both update by themselves where somebody wants that.
 */

/** Lines of one look. */
const MOST_LINES = 5_000
const LONGEST_VERSION = 200

/**
 * `people_look` prints `flatpak REF VERSION COMMIT`, `flatpak_newer REF VERSION COMMIT`, `snap NAME VERSION REVISION` and
 * `snap_newer NAME VERSION REVISION`, with `|` between the fields and `-` for an absent version, `problem flatpak|snap
 * MESSAGE` where a manager could not tell everything, and last `code 0`. Of flatpak, only what is installed for all users
 * is listed. Without a terminal it puts tabs between its columns and prints no heading. snap says on stderr that
 * everything is up to date, and prints nothing then.
 */
export const PEOPLE = `
people_look() (
  has() { command -v "$1" >/dev/null 2>&1; }
  # ask WORD SECONDS COMMAND...: its lines, or a problem
  ask() {
    word=$1
    shift
    if bounded "$@" >all 2>said </dev/null; then
      head -c 1000000 all | tr '|' '/' | tr -d '\\000-\\010\\013-\\037\\177' | awk -v word="$word" '
        BEGIN { isSnap = word ~ /^snap/; FS = isSnap ? " +" : "\\t" }
        $0 == "" { next }
        isSnap && !columns { columns = $1 == "Name" && $2 == "Version" && $3 == "Rev" ? NF : -1; next }
        NF != (isSnap ? columns : 3) || $1 == "" || $3 == "" { isBad = 1; next }
        { sub(/^(app|runtime)\\//, "", $1); print word "|" $1 "|" ($2 == "" ? "-" : $2) "|" $3 }
        END { if (isBad) { sub(/_.*/, "", word); print "problem|" word "|some of its lines cannot be read" } }'
    else
      problem "\${word%_newer}" "$(last_said said)"
    fi
  }
  export LC_ALL=C
  if has flatpak || has snap; then
    in_work people || {
      problem flatpak 'there is no room for temporary files'
      echo 'code|1'
      exit
    }
  fi
  if has flatpak; then
    ask flatpak 10 flatpak list --system --columns=ref,version,active
    ask flatpak_newer 20 flatpak remote-ls --system --updates --columns=ref,version,commit
  fi
  if has snap; then
    ask snap 10 snap list --unicode=never --color=never
    ask snap_newer 20 snap refresh --list --unicode=never --color=never
  fi
  echo 'code|0'
)
`

/** The answers of flatpak and snap. `problems`: what they could not; it is not up to date then. */
export interface PeopleReport {
  applications: FoundApplication[]
  problems: LookProblem[]
}

/** Reads the lines of `people_look`; undefined when they are not whole, or not as they must be. */
export function peopleReport(lines: readonly string[]): PeopleReport | undefined {
  if (lines.length > MOST_LINES || lines.at(-1) !== 'code|0') return undefined
  const applications = new Map<string, FoundApplication>()
  const problems: LookProblem[] = []
  for (const line of lines.slice(0, -1)) {
    const [word = '', ...fields] = line.split('|')
    const [first = '', version = '', build = ''] = fields
    if (word === 'problem' && fields.length === 2 && (first === 'flatpak' || first === 'snap')) {
      problems.push({ kind: first, name: null, message: version.slice(0, 300) })
      continue
    }
    const [kind, isNewer] = kindOf(word)
    const id = ApplicationId.safeParse(`${kind}:${first}`)
    if (!kind || !id.success || fields.length !== 3 || version === '' || build === '') return undefined
    const former = applications.get(id.data)
    const told = versionOf(version, build)
    if (!isNewer) {
      const name = kind === 'flatpak' ? first.replace(/\/.*/, '') : first
      const found = { id: id.data, kind, name, version: told, available: null, source: null, updatable: false }
      applications.set(id.data, found)
    } else if (former) former.available = told
    // It was installed or removed meanwhile.
    else problems.push({ kind, name: first, message: 'it was not in the list of what is installed' })
  }
  return { applications: [...applications.values()], problems }
}

function kindOf(word: string): [kind: 'flatpak' | 'snap' | undefined, isNewer: boolean] {
  const kind = word.replace(/_newer$/, '')
  return [kind === 'flatpak' || kind === 'snap' ? kind : undefined, kind !== word]
}

/** A version with its build: the same version may be built again. */
function versionOf(version: string, build: string): string {
  return (version === '-' ? build : `${version} (${build})`).slice(0, LONGEST_VERSION)
}
