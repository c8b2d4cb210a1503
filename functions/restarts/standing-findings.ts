import { type Finding, findingOf, type Impact, type Interrupted } from '../findings/finding.ts'
import { latenessOf, type Role, type TargetStanding } from './standing.ts'

/** The package of the panel itself. */
const PANEL = 'ops-panel'

/** The packages of each role. A restart of them takes the panel, or its way to the host, away for a moment. */
const PACKAGES: Readonly<Record<Role, RegExp>> = {
  panel: /^ops-panel$/,
  engine: /^(docker-ce|docker[.]io|moby-engine|containerd([.]io)?|runc|crun|podman|conmon)$/,
  proxy:
    /^(nginx(-.+)?|libnginx-mod-.+|openresty|caddy|haproxy|apache2(-bin|-data)?|traefik|lighttpd|varnish|envoy|cloudflared)$/,
  database: /^(sqld|libsql-server)$/,
  relay: /^(openssh-server|dropbear(-bin)?|haproxy|nginx(-.+)?|socat|wireguard(-.+)?|tailscale)$/,
  ssh: /^openssh-server$/,
  // Kernels and firmware have the names of the hypervisor, and are not in use before a reboot; documents never are.
  tools:
    /^(lxc|lxc-pve|lxcfs|(pve|proxmox)-(?!(kernel|headers|default-kernel|default-headers|firmware|docs)([^a-z0-9]|$)).+)$/,
}

/** The units of each role, without `.service`. The panel's own one has the name that it was found with. */
const UNITS: Readonly<Record<Role, RegExp>> = {
  panel: /^ops-panel$/,
  engine: /^(docker|containerd|podman|crio)$/,
  proxy: /^(nginx|openresty|caddy|haproxy|apache2|traefik|lighttpd|varnish|envoy|cloudflared)$/,
  database: /^(sqld|libsql(-server)?)$/,
  relay: /^(ssh|sshd|dropbear|haproxy|nginx|socat|tailscaled|wg-quick@.+)$/,
  ssh: /^(ssh|sshd)(@.*)?$/,
  tools: /^(lxcfs|lxc-.+|pve-.+|pvedaemon|pveproxy|pvestatd|spiceproxy|qmeventd|pmxcfs)$/,
}

/** The objects of the sentence: `La mise à jour change …`. */
const NAMES: Readonly<Record<Role, string>> = {
  panel: 'le panneau lui-même',
  engine: 'le moteur de conteneurs du panneau',
  proxy: 'le mandataire du panneau',
  database: 'la base de données du panneau',
  relay: 'le relais vers l’hôte',
  ssh: 'le serveur SSH de l’hôte',
  tools: 'les outils de l’hyperviseur',
}

/** The roles without which the panel does not answer; without the others it does not reach the host. */
const OF_PANEL: ReadonlySet<Role> = new Set<Role>(['panel', 'engine', 'proxy', 'database'])

function interruptedOf(roles: readonly Role[]): Interrupted | undefined {
  const panel = roles.some((role) => OF_PANEL.has(role))
  const host = roles.some((role) => !OF_PANEL.has(role))
  return panel && host ? 'both' : panel ? 'panel' : host ? 'host' : undefined
}

const AWAY: Readonly<Record<Interrupted, string>> = {
  panel: 'le panneau peut être injoignable un moment',
  host: 'l’accès à l’hôte peut être coupé un moment',
  both: 'le panneau et l’accès à l’hôte peuvent être coupés un moment',
}

/** Returns the roles that a package has on a target. Where the panel runs is not known, its own package counts. */
function rolesOfPackage(name: string, { target, roles, places }: TargetStanding): Role[] {
  const own: Role[] = places.length === 0 && name === PANEL ? ['panel'] : []
  // In a container of an engine there is no package of the panel.
  const counted = [...roles].filter((role) => role !== 'panel' || !roles.has('engine'))
  const found = counted.filter((role) => PACKAGES[role].test(name) && (role !== 'panel' || places.includes(target)))
  return [...own, ...found]
}

/** Whether a package may have a role somewhere, so that a check keeps it. */
export function isVital(name: string): boolean {
  return Object.values(PACKAGES).some((pattern) => pattern.test(name))
}

/**
 * Returns the finding of a target on which the panel stands: a warning where one of the changed packages has a role,
 * else a remark.
 */
export function selfImpactFindings(standing: TargetStanding, changed: readonly string[]): Finding[] {
  const found = changed.map((name) => ({ name, roles: rolesOfPackage(name, standing) }))
  const packages = found.flatMap(({ name, roles }) => (roles.length > 0 ? [name] : []))
  const roles = (Object.keys(NAMES) as Role[]).filter((role) => found.some((each) => each.roles.includes(role)))
  const place = placeSentence(standing)
  const away = interruptedOf(roles)
  const impact = impactOf(standing, away ?? null)
  if (away === undefined)
    return place === undefined ? [] : [findingOf('self_impact', { severity: 'info', message: place, impact })]
  const what = `La mise à jour change ${listed(roles.map((role) => NAMES[role]))} : ${AWAY[away]}.`
  const message = [what, 'Elle continue sur l’hôte, et son résultat revient de lui-même.', ...(place ? [place] : [])]
  return [findingOf('self_impact', { packages, message: message.join(' '), impact })]
}

function impactOf({ target, roles, places }: TargetStanding, away: Interrupted | null): Impact {
  const panel = [...roles].some((role) => OF_PANEL.has(role)) || (target === 'host' && places.length > 0)
  return { away, late: latenessOf(target, roles), panel: panel || away === 'panel' || away === 'both' }
}

/** Says what the target is for the panel; undefined where it is nothing but the host with its SSH server. */
function placeSentence({ target, roles, places }: TargetStanding): string | undefined {
  if (target === 'host') {
    const within = places.flatMap((place) => (place === 'host' ? [] : [place.slice('lxc:'.length)]))
    if (places.includes('host')) return 'Le panneau fonctionne sur cet hôte.'
    if (within.length === 0) return undefined
    return `Le panneau fonctionne dans ${within.length > 1 ? 'les conteneurs' : 'le conteneur'} ${listed(within)} de cet hôte.`
  }
  const parts = [
    ...(roles.has('panel') ? ['le panneau'] : []),
    ...(roles.has('proxy') ? [NAMES.proxy] : []),
    ...(roles.has('database') ? [NAMES.database] : []),
    ...(roles.has('relay') ? [NAMES.relay] : []),
  ]
  if (parts.length === 0) return undefined
  const list = listed(parts)
  const first = `${list.charAt(0).toUpperCase()}${list.slice(1)} ${parts.length > 1 ? 'fonctionnent' : 'fonctionne'} dans ce conteneur`
  const last = 'qui passe en dernier quand plusieurs cibles sont mises à jour'
  const data = 'Un retour à son instantané ramène aussi les données du panneau.'
  return `${first}, ${last}.${roles.has('panel') || roles.has('database') ? ` ${data}` : ''}`
}

function listed(parts: readonly string[]): string {
  const last = parts.at(-1) ?? ''
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} et ${last}` : last
}

/** A package that a check keeps, because it may have a role. */
export interface VitalPackage {
  name: string
  from: string | null
  to: string | null
  action: string
  status: string
}

/** Returns the findings of a check: what its planned upgrades change, and a newer version of the panel. */
export function standingFindings(standing: TargetStanding, vital: readonly VitalPackage[]): Finding[] {
  const planned = vital.filter(({ status }) => status === 'planned').map(({ name }) => name)
  const newer = vital.find(({ name, action, to }) => name === PANEL && action === 'upgrade' && to !== null)
  const isOwn = newer !== undefined && rolesOfPackage(newer.name, standing).length > 0
  const message = `Une version plus récente du panneau est proposée : ${newer?.to ?? ''} (${newer?.from ?? ''} installée).`
  return [
    ...selfImpactFindings(standing, planned),
    ...(isOwn ? [findingOf('application_update', { packages: [PANEL], message })] : []),
  ]
}

/** Returns what is away for a moment while a service of a target restarts; null where the panel does not notice it. */
export function interruptedBy(service: string, { target, roles, places, units }: TargetStanding): Interrupted | null {
  const isPanel = places.length === 0 || places.includes(target)
  const found = [...roles].filter((role) => UNITS[role].test(service) && (role !== 'panel' || !roles.has('engine')))
  const own: Role[] = isPanel && (service === PANEL || units.has(`${service}.service`)) ? ['panel'] : []
  return interruptedOf([...found, ...own]) ?? null
}
