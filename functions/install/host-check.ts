import type { Log } from '../../platform/log.ts'
import {
  type Command,
  createHost,
  type Elevation,
  HOST_HELPER,
  type Host,
  isRoots,
  type Rights,
  type SshAccount,
  SshError,
  script,
} from '../../ssh/ssh.ts'
import { CONTAINER_TOOL, listContainers } from '../hypervisor/pct.ts'
import { LIST_UPGRADABLE } from '../updates/apt.ts'
import { HOST_HELPER_SHA256 } from './host-helper.ts'
import { HELPER_VERSION, installedVersion } from '../elevation/installed-helper.ts'

/** One requirement of the service on a host. The message is French: the state, or how to fix it. */
export interface Check {
  id: 'reachable' | 'authenticated' | 'elevation' | 'apt' | 'container_tool' | 'penalties'
  ok: boolean
  /** Whether the service works without this requirement. */
  optional?: boolean
  message: string
}

/** The requirements that every check goes through. */
const STEPS: Check['id'][] = ['reachable', 'authenticated', 'elevation', 'apt', 'container_tool']

/**
 * Tests an account on a host, step by step, over separate connections, and runs `work` there when the account can run
 * commands. Also returns the host's key with its type, unless no host answered. With a given key, connects only to a
 * host that has it. Trusts no new key. Otherwise, a wrong account or host key would show only when a sign-in or a job
 * fails.
 */
export async function checkHost<result>(
  account: SshAccount,
  log: Log,
  work?: (host: Host) => Promise<result>,
): Promise<{ hostKey: string; checks: Check[]; work?: result }> {
  let hostKey = account.hostKey
  const settings = {
    sshServer: async () => account,
    sshAccount: async () => account,
    pinHostKey: async (seen: string) => seen,
  }
  const onConnect = (seen: string) => {
    hostKey = seen
  }
  const host = createHost({ settings, log, onConnect })
  const { host: name, port, username } = account
  const at = `${name}:${port}`
  const checks: Check[] = []
  try {
    await canRun(host)
    checks.push({ id: 'reachable', ok: true, message: `L’hôte répond à ${at}.` })
    checks.push({ id: 'authenticated', ok: true, message: `${username} s’est connecté.` })
    checks.push(await checkElevation(host, account))
    checks.push(await checkApt(host))
    checks.push(await checkContainerTool(host))
    checks.push(...(await checkPenalties(host, account)))
    return { hostKey, checks, ...(work && { work: await work(host) }) }
  } catch (error) {
    if (!(error instanceof SshError)) throw error
    const failed = failedCheck(error, STEPS[checks.length] ?? 'container_tool', { at, account })
    return { hostKey: error.hostKey ?? hostKey, checks: upTo(failed, checks, at) }
  } finally {
    host.close()
  }
}

/** Rejects with an SshError when the account cannot sign in or its shell runs no commands. */
async function canRun(host: Host): Promise<void> {
  const { code } = await host.exec(['true'])
  if (code !== 0) throw new SshError('refused', 'il lui faut un shell, et un mot de passe qui n’est pas à changer')
}

/** Returns the step of an error: a problem of connecting, else the step that was running. */
function failedCheck(
  { reason, message, hostKey }: SshError,
  running: Check['id'],
  { at, account }: { at: string; account: SshAccount },
): Check {
  const { username } = account
  const told = (id: Check['id'], text: string): Check => ({ id, ok: false, message: text })
  if (running !== 'reachable')
    return told(running, `La connexion a été perdue pendant la vérification (${message}). Réessayez.`)
  if (reason === 'throttled')
    return told('reachable', `${capitalized(message)} (${at}). Attendez une minute et réessayez.`)
  if (reason === 'unreachable')
    return told(
      'reachable',
      `Aucun serveur SSH ne répond à ${at} (${message}). Vérifiez l’adresse, le port et le pare-feu.`,
    )
  if (reason === 'host_key_changed')
    return told(
      'reachable',
      `Une autre clé que celle indiquée répond à ${at} (${hostKey}). Comparez-la, sur l’hôte, à celle de ssh-keygen -lf.`,
    )
  if (reason === 'no_passwords' || reason === 'asks_more')
    return told('authenticated', `${capitalized(message)}. Le compte de service peut se connecter par une clé.`)
  if (reason === 'password_expired') return told('authenticated', `${capitalized(message)}.`)
  if (reason === 'bad_credentials' && account.key)
    return told(
      'authenticated',
      `${capitalized(message)}. Ajoutez la ligne de la clé dans ~${username}/.ssh/authorized_keys, que sshd doit lire (AuthorizedKeysFile, PubkeyAuthentication) et dont seul ${username} peut modifier les dossiers.`,
    )
  if (reason === 'bad_credentials') {
    const hint =
      username === 'root'
        ? 'sshd doit autoriser root (PermitRootLogin yes)'
        : 'le compte peut être expiré ou verrouillé'
    return told('authenticated', `L’hôte refuse ${username} avec ce mot de passe ; ${hint}.`)
  }
  return told('authenticated', `${username} se connecte mais ne peut exécuter aucune commande (${message}).`)
}

const NAMES: Record<Check['id'], string> = {
  reachable: 'l’hôte',
  authenticated: 'la connexion',
  elevation: 'les droits',
  apt: 'apt',
  container_tool: 'pct',
  penalties: 'les pénalités de sshd',
}

/** Returns every step: the successful ones, the failed one, and the skipped rest. */
function upTo(failed: Check, done: readonly Check[], at: string): Check[] {
  return STEPS.map((id, step) => {
    if (id === failed.id) return failed
    const well: Check = { id, ok: true, message: `L’hôte répond à ${at}.` }
    if (step < STEPS.indexOf(failed.id)) return done.find((check) => check.id === id) ?? well
    return { id, ok: false, optional: true, message: `Pas encore vérifié : ${NAMES[id]}.` }
  })
}

async function checkElevation(host: Host, { username, password }: SshAccount): Promise<Check> {
  const told = (ok: boolean, message: string): Check => ({ id: 'elevation', ok, message })
  const elevation = await elevationOf(host)
  if (elevation instanceof SshError)
    return told(false, `Les droits de ${username} n’ont pas pu être lus (${elevation.message}).`)
  if (elevation === 'root') return told(true, `${username} est root.`)
  if (elevation === 'sudo') return told(true, `${username} a tous les droits par sudo, sans mot de passe.`)
  if (elevation === 'password') return told(true, `${username} a tous les droits par sudo, avec son mot de passe.`)
  if (elevation === 'helper') return { id: 'elevation', ...(await checkHelper(host, username)) }
  const helper = await lookAtHelper(host)
  const foreign = `Sur l’hôte, ${HOST_HELPER} n’est pas utilisé, car d’autres comptes que root peuvent le modifier : chown root:root ${HOST_HELPER} ; chmod 755 ${HOST_HELPER}`
  const { ok } = await succeeds(host, ['apt-get', '--version'], 'command')
  if (ok) {
    const root = `${username} peut lancer apt-get par sudo, ce qui donne tous les droits de root.`
    if (helper === 'foreign') return told(true, `${root} ${foreign}`)
    return told(true, `${root} Pour les limiter : ops-panel host helper.`)
  }
  const rule = `une règle sudo : ${username} ALL=(root) NOPASSWD: ${HOST_HELPER}`
  const lacks =
    password === '' && (await wantsPassword(host))
      ? `sudo demande le mot de passe de ${username}, que le panneau n’a pas.`
      : `${username} n’a pas les droits de mettre à jour.`
  if (helper === 'foreign') return told(false, `${lacks} ${foreign}`)
  if (helper === 'safe') return told(false, `${lacks} Ajoutez ${rule}`)
  return told(
    false,
    `${lacks} Installez ops-panel-host sur l’hôte (« ops-panel host helper » dit comment), et ajoutez ${rule}`,
  )
}

/** Returns whether sudo asks this account for its password, which a service with a key alone does not have. */
async function wantsPassword(host: Host): Promise<boolean> {
  const { code, stderr } = await host.exec(['env', 'LC_ALL=C', 'sudo', '-n', 'true'])
  return code !== 0 && stderr.includes('a password is required')
}

/** Checks that the host helper is compatible with this service and is the version that the service ships. */
async function checkHelper(host: Host, username: string): Promise<{ ok: boolean; message: string }> {
  const version = await installedVersion(host)
  const replace = '« ops-panel host helper » dit comment le remplacer.'
  const told = `${username} n’a par sudo que les droits qu’ops-panel-host lui donne (version ${version})`
  if (version < HELPER_VERSION)
    return { ok: false, message: `${told}. Il faut la version ${HELPER_VERSION} : ${replace}` }
  const { stdout: sum } = await host.exec(['sha256sum', HOST_HELPER])
  if (version > HELPER_VERSION || sum.startsWith(HOST_HELPER_SHA256)) return { ok: true, message: `${told}.` }
  return { ok: true, message: `${told}. Il diffère de celui de ce service : ${replace}` }
}

/** Returns whether the host helper exists and only root can change it. */
async function lookAtHelper(host: Host): Promise<'missing' | 'foreign' | 'safe'> {
  const look = `[ -e "$1" ] || { echo missing; exit; }; if ${isRoots('"$1"')}; then echo safe; else echo foreign; fi`
  const { stdout } = await host.exec(script(look, 'ops-panel-helper', HOST_HELPER))
  const word = stdout.trim().split('\n').at(-1)
  return word === 'safe' || word === 'foreign' ? word : 'missing'
}

/** sudo may be slow, for example behind a directory service. The other checks do not depend on it. */
async function elevationOf(host: Host): Promise<Elevation | SshError> {
  try {
    return await host.elevation()
  } catch (error) {
    if (error instanceof SshError) return error
    throw error
  }
}

async function checkApt(host: Host): Promise<Check> {
  const { ok, message } = await succeeds(host, LIST_UPGRADABLE, 'none')
  if (ok) return { id: 'apt', ok, message: 'apt répond.' }
  return {
    id: 'apt',
    ok,
    message: `apt ne répond pas (${message}). L’hôte doit être une Debian ou une de ses dérivées.`,
  }
}

async function checkContainerTool(host: Host): Promise<Check> {
  const told = (ok: boolean, message: string): Check => ({ id: 'container_tool', ok, message })
  try {
    const containers = await listContainers(host)
    return told(true, `pct répond : ${containers.length} conteneur${containers.length > 1 ? 's' : ''}.`)
  } catch (error) {
    if (!(error instanceof SshError)) throw error
    const { code } = await host.exec(['test', '-e', CONTAINER_TOOL])
    const missing = code === 1
    const message = missing
      ? 'Il n’y a pas de pct sur cet hôte : seul l’hôte lui-même peut être mis à jour.'
      : `pct ne répond pas (${error.message}). Sans lui, seul l’hôte lui-même peut être mis à jour.`
    return { ...told(false, message), optional: missing }
  }
}

/**
 * Checks sshd's penalties. An sshd of Debian 13 blocks the address of wrong passwords for a while. This address is the
 * service's own, whoever typed the passwords. Returns no check for an sshd without penalties.
 */
async function checkPenalties(host: Host, { username }: SshAccount): Promise<Check[]> {
  const found = await host.penalties()
  if (!found) return []
  const { state, version, address } = found
  const told = (ok: boolean, message: string): Check[] => [{ id: 'penalties', ok, optional: !ok, message }]
  if (state === 'off') return told(true, `sshd (OpenSSH ${version}) ne bloque aucune adresse (PerSourcePenalties).`)
  if (state === 'exempt')
    return told(true, `sshd ne bloque jamais ce service (PerSourcePenaltyExemptList, ${address}).`)
  const others = 'exempt' in found && found.exempt !== '' ? `${found.exempt},` : ''
  const line = `PerSourcePenaltyExemptList ${others}${address || '<adresse du panneau>'}`
  const why =
    'des mots de passe incorrects, saisis par n’importe qui, rendent alors l’hôte inaccessible à tous pendant un moment'
  const how = `Ajoutez à sa configuration (/etc/ssh/sshd_config) la ligne « ${line} », puis : systemctl reload ssh`
  if (state === 'in_force') return told(false, `sshd (OpenSSH ${version}) peut bloquer ce service : ${why}. ${how}`)
  return told(
    false,
    `sshd (OpenSSH ${version}) peut bloquer ce service, et ${username} n’a pas le droit de lire s’il le fait : ${why}. Si ce n’est pas déjà fait : ${how}`,
  )
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

async function succeeds(host: Host, command: Command, rights: Rights): Promise<{ ok: boolean; message: string }> {
  try {
    const { code, stderr } = await host.exec(command, { rights })
    return { ok: code === 0, message: stderr.trim().split('\n').at(-1) ?? '' }
  } catch (error) {
    if (!(error instanceof SshError)) throw error
    return { ok: false, message: error.message }
  }
}
