import { type Finding, findingOf } from './finding.ts'

/**
 * Returns one finding for each repository about which `apt-get update` prints a warning or an error. apt-get may print
 * them and still exit with 0.
 */
export function repositoryFindings(lines: readonly string[]): Finding[] {
  const findings = new Map<string, Finding>()
  for (const line of lines.slice(-MAX_LINES)) {
    if (!/^[EW]: /.test(line) || HARMLESS.test(line) || SUMMARY.test(line)) continue
    const text = line.slice(3)
    const repository = repositoryOf(text)
    if (repository === null && !FAILURE.test(text)) continue
    const code = codeOf(text)
    const key = `${code} ${repository ?? ''}`
    if (findings.has(key) || findings.size >= MAX_FINDINGS) continue
    findings.set(key, findingOf(code, { repository, message: withoutSecrets(text).slice(0, 300) }))
  }
  return [...findings.values()]
}

/** Findings about the repositories of one target. */
const MAX_FINDINGS = 50
/** Of longer output, only the last lines are read. */
const MAX_LINES = 200
/** Warnings of apt that do not affect the package lists. */
const HARMLESS =
  /is configured multiple times|Key is stored in legacy|uses weak|weak digest|weak algorithm|Download is performed unsandboxed|doesn't support architecture/
/** The lines in which apt sums up the problems above them. */
const SUMMARY = /Some index files failed to download|Problem renaming the file/
const FAILURE = /Failed to fetch|repository|signature|Release file|Unable to|Could not|Temporary failure/i

function codeOf(text: string) {
  if (/changed its '/.test(text)) return 'repository_changed'
  if (/EXPKEYSIG|is expired|is not valid yet|expired since/.test(text)) return 'repository_expired'
  if (
    /is not signed|no longer signed|NO_PUBKEY|BADSIG|signatures? (couldn't|were invalid)|is not available|GPG error/.test(
      text,
    )
  )
    return 'repository_unsigned'
  return 'repository_unreachable'
}

/**
 * Turns `http://mirror/debian/dists/stable/InRelease` into `http://mirror/debian stable`; returns any other address
 * unchanged.
 */
function repositoryOf(text: string): string | null {
  const address = /\b(?:https?|ftp|file|copy|cdrom|mirror\+\w+):[^\s'"]+/.exec(text)?.[0]
  if (address === undefined) return null
  const [base = '', rest = ''] = withoutSecrets(address).split('/dists/')
  const suite = rest.split('/')[0] ?? ''
  return (suite === '' ? base.replace(/\/\.?\/?(InRelease|Release|Packages)?$/, '') : `${base} ${suite}`).slice(0, 300)
}

/** Removes a user name and a password from an address. */
function withoutSecrets(text: string): string {
  return text.replace(/([a-z+]{1,12}:\/\/)[^\s/@]{1,500}@/g, '$1')
}
