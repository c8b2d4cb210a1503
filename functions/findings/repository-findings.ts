import { type Finding, findingOf, REMEDIES } from './finding.ts'

/**
 * Returns one finding for each repository about which `apt-get update` prints a warning or an error. apt-get may print
 * them and still exit with 0.
 */
export function repositoryFindings(lines: readonly string[]): Finding[] {
  const findings = new Map<string, Finding>()
  for (const line of lines.slice(-MAX_LINES)) {
    if (!/^[EW]: /.test(line) || !TROUBLE.test(line)) continue
    const text = line.slice(3)
    const repository = repositoryOf(text)
    const code = codeOf(text)
    const key = `${code} ${repository ?? ''}`
    if (findings.has(key) || findings.size >= MAX_FINDINGS) continue
    // A new key has to be installed by hand; nothing else renews an expired one.
    const remedy = EXPIRED_KEY.test(text) ? { remedy: REMEDIES.TERMINAL } : {}
    findings.set(key, findingOf(code, { repository, message: messageOf(code, repository, text), ...remedy }))
  }
  return [...findings.values()]
}

/** Findings about the repositories of one target. */
const MAX_FINDINGS = 50
/** Of longer output, only the last lines are read. */
const MAX_LINES = 200
/** How gpgv (Debian 12) and sqv (Debian 13) name an expired key. */
const EXPIRED_KEY = /EXPKEYSIG|key is not live|Expired on/
const EXPIRED = /is expired|is not valid yet|expired since/
const UNSIGNED =
  /is not signed|no longer signed|NO_PUBKEY|BADSIG|signatures? (?:couldn't|were invalid)|is not available|GPG error|OpenPGP signature/
const UNREACHABLE =
  /Failed to fetch|does not have a Release file|Could not (?:connect|resolve)|Temporary failure|Unable to connect|timed out/
/** The warnings and errors of apt that say that the lists of a repository are not the newest. */
export const TROUBLE = new RegExp(
  [/ changed its '/, EXPIRED_KEY, EXPIRED, UNSIGNED, UNREACHABLE].map(({ source }) => source).join('|'),
)

/** Whether another process held apt's lock when it was to refresh the lists. */
export function isLockRefused(lines: readonly string[]): boolean {
  return lines.slice(-MAX_LINES).some((line) => /^E: (Could not get lock|Unable to lock) /.test(line))
}

/** Whether every configured repository failed to answer, and none is local; `addresses` are those of their lists. */
export function isOffline(addresses: readonly string[], findings: readonly Finding[]): boolean {
  const silent = new Set(
    findings.flatMap(({ code, repository }) => (code === 'repository_unreachable' ? [repository] : [])),
  )
  const isRemote = (address: string) => /^(https?|ftp|mirror\+https?):/.test(address)
  const isSilent = (address: string) => isRemote(address) && silent.has(repositoryOf(`${address}InRelease`))
  return addresses.length > 0 && addresses.every(isSilent)
}

const SENTENCES = {
  repository_unreachable: 'n’a pas pu être lu',
  repository_changed: 'a changé de nom ou de version, acceptez-le si vous l’attendiez',
  repository_unsigned: 'n’a pas de signature reconnue, installez sa clé ou retirez-le',
  repository_expired: 'a des listes ou une clé qui ne sont plus valables',
} as const

/** Returns the French sentence with apt’s own words behind it. */
function messageOf(code: keyof typeof SENTENCES, repository: string | null, text: string): string {
  const cause = withoutSecrets(text).replace(/\s+/g, ' ').slice(0, 300)
  return `${repository === null ? 'Un dépôt' : `Le dépôt ${repository.slice(0, 200)}`} ${SENTENCES[code]} : ${cause}`
}

function codeOf(text: string) {
  if (/changed its '/.test(text)) return 'repository_changed'
  if (EXPIRED_KEY.test(text) || EXPIRED.test(text)) return 'repository_expired'
  if (UNSIGNED.test(text)) return 'repository_unsigned'
  return 'repository_unreachable'
}

/**
 * Turns `http://mirror/debian/dists/stable/InRelease` into `http://mirror/debian stable`; returns any other address
 * unchanged.
 */
function repositoryOf(text: string): string | null {
  const address = /\b(?:https?|ftp|file|copy|cdrom|mirror\+\w+):[^\s'"]+/.exec(text)?.[0]
  if (address === undefined) return null
  // apt names a suite behind the address, and `./` for a repository without suites.
  const named = /\b((?:https?|ftp|file|copy|mirror\+\w+):[^\s']+) ([^\s'/]+) (?:In)?Release\b/.exec(text)
  if (named) return withoutSecrets(`${named[1]?.replace(/\/+$/, '')} ${named[2]}`).slice(0, 300)
  const [base = '', rest = ''] = withoutSecrets(address).split('/dists/')
  const suite = rest.split('/')[0] ?? ''
  return (suite === '' ? base.replace(/\/\.?\/?(InRelease|Release|Packages)?$/, '') : `${base} ${suite}`).slice(0, 300)
}

/** Removes a user name and a password from an address. */
function withoutSecrets(text: string): string {
  return text.replace(/([a-z+]{1,12}:\/\/)[^\s/@]{1,500}@/g, '$1')
}
