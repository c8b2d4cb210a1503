import { type Finding, findingOf, REMEDIES } from '../findings/finding.ts'
import type { ManagedName } from './managed-scripts.ts'
import {
  type Changes,
  changesOf,
  type Left,
  leftOf,
  MOST_REPOSITORIES,
  type Refresh,
  refreshOf,
  type Verified,
  verifiedOf,
} from './managed-lines.ts'
import { MOST_PACKAGES, type PackageUpdate, type ReportedPackages } from './package-update.ts'

type Sections = ReadonlyMap<string, readonly string[]>

/** The result of a check by a manager other than apt. */
export interface ManagedReport extends ReportedPackages {
  findings: Finding[]
  /** Whether every package list was refreshed. */
  refreshed: boolean
  /** Whether the manager can say what an upgrade would change. */
  isSupported: boolean
  sizes: { download: number | null; disk: number | null }
}

/**
 * Reads the sections that `managed_look` prints. Undefined where one of them cannot be read, or where the manager has not
 * answered whole and nothing says why: that is no result.
 */
export async function managedReport(manager: ManagedName, sections: Sections): Promise<ManagedReport | undefined> {
  const lines = (name: string) => sections.get(name) ?? []
  const [security = ''] = lines('security')
  const refresh = await refreshOf(lines('refresh'))
  const verified = await verifiedOf(lines('verify'))
  const planned = await changesOf(lines('planned'))
  if (!refresh || !verified || !planned || !/^(told|database)$/.test(security)) return undefined
  if (planned.isUnsupported) {
    const findings = [unsupportedFinding(manager, EVERYTHING)]
    return { ...NOTHING, findings, refreshed: false, isSupported: false }
  }
  const left = await leftOf(lines('left'))
  if (!left) return undefined

  const codes = [planned.code, left.code, verified.code]
  const isWhole = codes.every((code) => code === 0)
  const asked = refreshFindings(manager, refresh)
  const repaired = verifyFindings(manager, verified, isWhole && planned.problems.length === 0)
  const problems = problemsOf(manager, planned)
  // The reason must be one that keeps the target from looking well.
  const isExplained = problems.length > 0 || refresh.isLocked || repaired.some(({ severity }) => severity !== 'info')
  if (!isWhole && !isExplained) return undefined
  const packages = isWhole ? withLeft(planned, left) : []
  if (packages.length > MOST_PACKAGES) return undefined
  const unknown = security === 'database' && packages.length > 0 ? [findingOf('security_unknown')] : []
  const reasons = [...asked, ...problems, ...repaired]
  const findings = isWhole ? [...reasons, ...leftFindings(left), ...unknown] : reasons.map(inTheWay)
  return {
    packages,
    changes: isWhole ? planned.changes : new Map(),
    findings,
    // A manager may refresh its lists while another process has its database.
    refreshed: refresh.code === 0 && refresh.lists > 0 && refresh.failed.length === 0 && refresh.lacking === undefined,
    isSupported: true,
    sizes: isWhole ? { download: planned.download, disk: planned.room } : NOTHING.sizes,
  }
}

/** Makes the reason why no upgrade could be computed a blocking one: nobody knows what there is to upgrade. */
function inTheWay(finding: Finding): Finding {
  const isReason = finding.code === 'manager_locked' || finding.code === 'dpkg_interrupted'
  return isReason ? { ...finding, severity: 'blocking' } : finding
}

const NOTHING = { packages: [], changes: new Map(), sizes: { download: null, disk: null } }
const EVERYTHING = { only: 'all', kind: 'every' } as const

/** The changes, then what is left alone; what both name is planned. */
function withLeft({ packages }: Changes, left: Left): PackageUpdate[] {
  const planned = new Set(packages.map(({ name, arch }) => `${name}:${arch}`))
  return [...packages, ...left.packages.filter(({ name, arch }) => !planned.has(`${name}:${arch}`))]
}

/** Findings about the repositories of one target. */
const MOST_FINDINGS = 50

/** Returns why the lists of a target are not whole. */
function refreshFindings(manager: ManagedName, refresh: Refresh): Finding[] {
  const { repositories, failed, isLocked, isCrowded, lists, lacking, code } = refresh
  const findings: Finding[] = []
  const addresses = new Map(repositories.map(({ id, address }) => [id, address]))
  const silent = new Set<string>()
  for (const { id, code: own, message } of failed) {
    const kind = kindOf(message)
    if (kind === 'repository_unreachable') silent.add(id)
    if (findings.length === MOST_FINDINGS) continue
    const told = `Le dépôt ${id.slice(0, 200)} ${SENTENCES[kind]} (${manager}, code ${own}) : ${message}`
    const isKey = kind !== 'repository_unreachable'
    findings.push(findingOf(kind, { repository: id, message: told, ...(isKey && { remedy: REMEDIES.TERMINAL }) }))
  }
  const isRemote = (id: string) => /^(https?|ftp):/i.test(addresses.get(id) ?? '')
  const isOffline = repositories.length > 0 && repositories.every(({ id }) => silent.has(id) && isRemote(id))
  if (isOffline) findings.unshift(findingOf('network_missing'))
  if (isLocked) findings.push(lockedFinding(manager))
  if (lacking !== undefined) {
    const message = `Les listes de paquets n’ont pas pu être actualisées : ${lacking}`
    findings.push(findingOf('lists_stale', { message, remedy: REMEDIES.TERMINAL }))
  } else if (isCrowded) {
    const message = `Cette cible a plus de ${MOST_REPOSITORIES} dépôts : les autres n’ont pas été actualisés.`
    findings.push(findingOf('lists_stale', { message, remedy: REMEDIES.TERMINAL }))
  } else if (lists === 0) findings.push(findingOf('lists_stale', { message: NO_LISTS }))
  else if (code !== 0 && findings.length === 0) {
    const message = `Les listes de paquets n’ont pas pu être actualisées (${manager}, code ${code}).`
    findings.push(findingOf('lists_stale', { message }))
  }
  return findings
}

const NO_LISTS = 'Aucune liste de paquets n’a pu être lue.'

const SENTENCES = {
  repository_unreachable: 'n’a pas pu être lu',
  repository_unsigned: 'n’a pas de signature reconnue, installez sa clé ou retirez-le',
  repository_expired: 'a des listes ou une clé qui ne sont plus valables',
} as const

/** Tells by the manager's own words what is wrong with a repository. */
function kindOf(message: string): keyof typeof SENTENCES {
  if (/\bexpired\b/i.test(message)) return 'repository_expired'
  return /\b(gpg|pgp|openpgp|signature|untrusted|unsigned|bad key|public key|unknown key)/i.test(message)
    ? 'repository_unsigned'
    : 'repository_unreachable'
}

function lockedFinding(manager: ManagedName): Finding {
  return findingOf('manager_locked', {
    message: `${manager} est déjà en cours d’exécution. Revérifiez quand il aura fini.`,
  })
}

/**
 * Returns what is unfinished or broken. These managers still upgrade what does not need the broken part, so only an
 * upgrade that cannot be computed is blocked by it.
 */
function verifyFindings(manager: ManagedName, { broken, unfinished }: Verified, isPlanned: boolean): Finding[] {
  const findings: Finding[] = []
  // A lock that nobody holds any more keeps pacman from every run.
  const lock = manager === 'pacman' ? unfinished.find(({ name }) => name === '-') : undefined
  const first = lock ?? unfinished[0]
  if (first) {
    const message = `${manager} n’a pas fini son dernier travail : ${first.message}`
    const severity = lock ? 'blocking' : 'warning'
    const packages = namesOf(unfinished)
    findings.push(findingOf('dpkg_interrupted', { message, packages, severity, remedy: REMEDIES.TERMINAL }))
  }
  const [one] = broken
  if (one) {
    const message = `Des dépendances ne sont pas satisfaites (${manager}) : ${one.message}`
    const severity = isPlanned ? 'warning' : 'blocking'
    const packages = namesOf(broken)
    findings.push(findingOf('dependencies_broken', { message, packages, severity, remedy: REMEDIES.TERMINAL }))
  }
  return findings
}

function namesOf(found: readonly { name: string }[]): string[] {
  return [...new Set(found.map(({ name }) => name))].filter((name) => name !== '-' && name !== '')
}

/** Returns what keeps the manager from telling its changes. */
function problemsOf(manager: ManagedName, { problems, isCrowded }: Changes): Finding[] {
  const told = problems.map((message) => refusal(manager, message))
  const message = `Cette cible a plus de ${MOST_REPOSITORIES} dépôts : le panneau n’en lit pas autant, et ${manager} ne met rien à jour sans les listes de tous.`
  return isCrowded
    ? [...told, findingOf('lists_stale', { message, severity: 'blocking', remedy: REMEDIES.TERMINAL })]
    : told
}

function refusal(manager: ManagedName, message: string): Finding {
  return findingOf('dependencies_broken', {
    message: `${manager} refuse la mise à jour : ${message}`,
    remedy: REMEDIES.TERMINAL,
  })
}

/** Packages that a sentence names. It counts the rest. */
const NAMED = 20

/** Returns one finding for each reason why packages are left alone. */
function leftFindings({ packages, held }: Left): Finding[] {
  const because = (reason: PackageUpdate['reason']) =>
    packages.filter((each) => each.reason === reason && each.action === 'upgrade').map(({ name }) => name)
  const holds = [...new Set([...held, ...because('held')])]
  const gone = packages.filter(({ action }) => action === 'remove').map(({ name }) => name)
  const removes = `Des mises à jour ne passent qu’en supprimant ${gone.slice(0, NAMED).join(', ')}${gone.length > NAMED ? ` et ${gone.length - NAMED} autres` : ''}.`
  const remove = because('kept_back_remove')
  const waiting = because('kept_back_dependencies')
  return [
    ...(remove.length > 0
      ? [findingOf('kept_back_remove', { packages: remove, ...(gone.length > 0 && { message: removes }) })]
      : []),
    ...(waiting.length > 0 ? [findingOf('kept_back_dependencies', { packages: waiting })] : []),
    // The service lifts no hold of these managers: it would change their configuration.
    ...(holds.length > 0 ? [findingOf('held', { packages: holds, remedy: REMEDIES.TERMINAL })] : []),
  ]
}

/** The part of a selection that a manager may not be able to make. */
interface Choice {
  only: 'all' | 'security'
  kind: 'every' | 'these' | 'without'
}

/** Returns the finding of a selection that the manager cannot make, with the reason. */
export function unsupportedFinding(manager: ManagedName, { only, kind }: Choice): Finding {
  return findingOf('selection_unsupported', { message: whyUnsupported(manager, { only, kind }) })
}

function whyUnsupported(manager: ManagedName, { only, kind }: Choice): string {
  const isPart = only === 'security' || kind !== 'every'
  // zypper refuses a part on a rolling distribution alone.
  if (isPart && (manager === 'pacman' || manager === 'zypper'))
    return `${manager} met toujours tout à jour ensemble : une partie seulement laisserait un système incohérent.`
  if (only === 'security') return `${manager} ne dit pas quelles mises à jour corrigent une faille.`
  if (kind === 'without') return `${manager} ne peut pas laisser des paquets de côté sans changer sa configuration.`
  if (kind === 'these') return `${manager} ne peut pas mettre à jour quelques paquets seulement.`
  return `Cette version de ${manager} ne permet pas de savoir d’avance ce qu’une mise à jour changerait.`
}

/** The result of a plan by a manager other than apt; `packages` are its changes. */
export interface ManagedPlan {
  packages: PackageUpdate[]
  findings: Finding[]
  sizes: ManagedReport['sizes']
}

/** Reads the sections that `managed_plan` prints. Undefined where they cannot be read, or tell nothing whole. */
export async function managedPlan(
  manager: ManagedName,
  sections: Sections,
  choice: Choice,
): Promise<ManagedPlan | undefined> {
  const verified = await verifiedOf(sections.get('verify') ?? [])
  const planned = await changesOf(sections.get('planned') ?? [])
  if (!verified || !planned) return undefined
  if (planned.isUnsupported)
    return { packages: [], findings: [unsupportedFinding(manager, choice)], sizes: NOTHING.sizes }
  const isWhole = planned.code === 0
  const problems = problemsOf(manager, planned)
  const found = [...problems, ...verifyFindings(manager, verified, isWhole && problems.length === 0)]
  // Half an answer is no plan: something must forbid it.
  if (!isWhole && !found.some(({ severity }) => severity === 'blocking')) return undefined
  const sizes = isWhole ? { download: planned.download, disk: planned.room } : NOTHING.sizes
  return { packages: isWhole ? planned.packages : [], findings: found, sizes }
}
