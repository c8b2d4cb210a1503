import { stat, statfs } from 'node:fs/promises'
import { quickCheck } from '../../db/libsql/client.ts'
import { openExisting, type Storage } from '../../db/storage.ts'
import { type Config, ConfigError } from '../../platform/config.ts'
import { exists, filePath } from '../../platform/files.ts'
import { secretKeyFile } from '../../platform/secrets.ts'
import { type BareContext, defineCommand } from '../../runtime/command.ts'
import { Failure } from '../../runtime/errors.ts'
import { type Host, type SshAccount, SshError } from '../../ssh/ssh.ts'
import { checkApi, checkApiSnapshots } from '../hypervisor/api.ts'
import { hostInNeed } from '../hypervisor/snapshot-answers.ts'
import { createSettings, type Settings } from '../services.ts'
import { checkKeys } from './key-check.ts'
import { checkCertificate } from './certificate-check.ts'
import { type Check, checkHost } from './host-check.ts'
import { checkEngine, checkForge, checkProvider } from './outside-checks.ts'
import { checkProtection } from './protection-check.ts'
import { describeCheck } from './wizard.ts'

type Finding = Omit<Check, 'id'>

/** An upgrade of all containers writes some megabytes of output, and the database's log as much again. */
const DISK_BYTES = 200 * 1024 * 1024
/** Clock difference that is tolerated: tokens and job ids carry dates. */
const CLOCK_SECONDS = 30

/**
 * Checks everything that the service depends on, such as file modes, the clock and certificates, and says how to fix
 * each problem. Changes nothing.
 */
export default defineCommand({
  name: 'doctor',
  summary: 'vérifier l’hôte, la base, le disque, les droits et l’horloge, et dire quoi faire',
  data: 'none',

  async run(_, context) {
    const { config } = context
    const storage = await openedOrNot(config)
    const findings: Finding[] = [
      'db' in storage ? await checkDatabase(storage, config) : storage,
      ...(await checkFolder(config)),
      ...(await checkCertificate(config, context.clock())),
      ...(await checkProvider(config, context.clock)),
      ...('db' in storage ? await checkAccount(storage, context) : []),
      ...('db' in storage ? await checkForge(createSettings({ ...storage, ...context }), config) : []),
    ]
    if ('db' in storage) await storage.db.close()
    const engine = await checkEngine(config)
    if (engine) findings.push(engine)
    const ok = findings.every((finding) => finding.ok || finding.optional)
    const verdict = ok ? 'Tout va bien.' : 'Il reste à corriger ce qui est marqué ✗.'
    return { text: [...findings.map(describeCheck), '', verdict].join('\n'), ok }
  },
})

async function openedOrNot(config: Config): Promise<Storage | Finding> {
  try {
    return await openExisting(config)
  } catch (error) {
    if (error instanceof ConfigError) return { ok: false, message: capitalized(error.message) }
    return {
      ok: false,
      message: `La base de données ne s’ouvre pas (${reasonOf(error)}). ${adviceForDatabase(config, error)}`,
    }
  }
}

/** The network error is the cause of the client's error. */
function reasonOf(error: unknown): string {
  let last = error
  while (last instanceof Error && last.cause instanceof Error) last = last.cause
  return messageOf(last)
}

function adviceForDatabase({ databaseUrl }: Config, error: unknown): string {
  if (filePath(databaseUrl) !== undefined) return adviceFor(error)
  return `Vérifiez le serveur libSQL ${new URL(databaseUrl).host}, PANEL_DATABASE_URL et PANEL_DATABASE_TOKEN.`
}

function adviceFor(error: unknown): string {
  const text = messageOf(error)
  if (/EACCES|EPERM|CANTOPEN|READONLY/.test(text)) return 'Lancez cette commande avec le compte du service, ou en root.'
  if (/BUSY|LOCKED/.test(text)) return 'Un autre programme tient la base : réessayez.'
  return /NOTADB|CORRUPT/.test(text) ? 'Voir « restore ».' : 'Vérifiez le disque et les droits.'
}

async function checkDatabase({ db }: Storage, { databaseUrl }: Config): Promise<Finding> {
  try {
    // A write shows whether the disk has become read-only.
    await db.probe()
    const broken = filePath(databaseUrl) === undefined ? undefined : await quickCheck(db)
    if (broken === undefined) return { ok: true, message: 'La base de données répond.' }
    return { ok: false, message: `La base de données est endommagée (${broken}). Voir « restore ».` }
  } catch (error) {
    return {
      ok: false,
      message: `La base de données ne répond pas, ou n’accepte aucune écriture (${reasonOf(error)}).`,
    }
  }
}

async function checkFolder({ dataDir, databaseUrl, secretKey, modulesDir }: Config): Promise<Finding[]> {
  try {
    if (!(await exists(dataDir))) return []
  } catch (error) {
    return [unreadable(dataDir, error)]
  }
  const { uid } = await stat(dataDir)
  const files = [filePath(databaseUrl), secretKey ? undefined : secretKeyFile(dataDir)]
  const findings = [await checkDisk(dataDir), await checkMode(dataDir, 0o700, uid)]
  for (const file of files)
    if (file !== undefined && (await exists(file))) findings.push(await checkMode(file, 0o600, uid))
  return [...findings, ...(await checkModules(modulesDir, uid))]
}

/**
 * Module code runs with the rights of the service, so write access to the folder grants those rights. Read access is
 * harmless.
 */
async function checkModules(folder: string, owner: number): Promise<Finding[]> {
  try {
    if (!(await exists(folder))) return []
  } catch (error) {
    return [unreadable(folder, error)]
  }
  const { mode, uid } = await stat(folder)
  if (uid !== owner) return [foreign(folder, owner)]
  if ((mode & 0o022) === 0) return [{ ok: true, message: `${folder} n’est modifiable que par son propriétaire.` }]
  return [{ ok: false, message: `${folder} est modifiable par d’autres : chmod go-w ${folder}` }]
}

function unreadable(path: string, error: unknown): Finding {
  return { ok: false, message: `${path} ne peut pas être lu (${messageOf(error)}). ${adviceFor(error)}` }
}

function foreign(path: string, owner: number): Finding {
  return {
    ok: false,
    message: `${path} appartient à un autre compte que le dossier des données : chown ${owner} ${path}`,
  }
}

async function checkDisk(folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const amount = `${Math.floor(free / 1024 / 1024)} Mio libres pour ${folder}`
  if (free >= DISK_BYTES) return { ok: true, message: `${amount}.` }
  return { ok: false, message: `${amount} : faites de la place, il en faut au moins 200.` }
}

/** `owner` is the owner of the data folder, who should own every file in it. */
async function checkMode(path: string, wanted: number, owner: number): Promise<Finding> {
  const { mode, uid } = await stat(path)
  const actual = mode & 0o777
  if (uid !== owner) return foreign(path, owner)
  if ((actual & ~wanted) === 0) return { ok: true, message: `${path} n’est accessible qu’à son propriétaire.` }
  return { ok: false, message: `${path} est accessible à d’autres : chmod ${wanted.toString(8)} ${path}` }
}

async function checkAccount(storage: Storage, { log, clock }: BareContext): Promise<Finding[]> {
  const settings = createSettings({ ...storage, clock, log })
  let account: SshAccount
  try {
    // A key that nobody uses yet is made anew where it is needed.
    const unreadable = (await settings.unreadable()).filter((key) => key !== 'ssh_key_next')
    if (unreadable.length > 0)
      return unreadable.map((key) => ({
        ok: false,
        message: `${key} ne peut pas être déchiffré : remettez la bonne clé, ou « settings set ${key} ».`,
      }))
    account = await settings.sshAccount()
  } catch (error) {
    if (!(error instanceof Failure))
      return [{ ok: false, message: `Les réglages sont illisibles (${messageOf(error)}).` }]
    const where = (await settings.hasSshHost()) ? 'settings set' : 'setup'
    return [{ ok: false, message: `${error.message} Voir « ${where} ».` }]
  }
  const { username } = account
  const { checks, work } = await checkHost(account, log, async (host) => ({
    findings: [await checkClock(host, clock().getTime()), ...(await checkProtection(host, username))],
    inNeed: await hostInNeed(host),
  }))
  const keys = work ? await checkKeys(settings, account, log) : []
  return [...checks, ...keys, ...(work?.findings ?? []), ...(await checkHypervisor(settings, work?.inNeed))]
}

/**
 * Skips the check when neither the address nor the token is set. One of them alone shows that the hypervisor is meant
 * to be used. `inNeed`: see `hostInNeed`.
 */
async function checkHypervisor(settings: Settings, inNeed: string | undefined): Promise<Finding[]> {
  const access = await settings.hypervisor()
  if (access) return [await checkApi(access), ...(inNeed === undefined ? [] : await checkApiSnapshots(access, inNeed))]
  const { hypervisor_url, hypervisor_token_set } = await settings.show()
  if (hypervisor_url === '' && !hypervisor_token_set) return []
  const missing = hypervisor_token_set ? 'hypervisor_url' : 'hypervisor_token'
  const message = `L’API de l’hyperviseur n’est pas utilisée : il manque ${missing} (« settings set ${missing} »).`
  return [{ ok: false, optional: true, message }]
}

async function checkClock(host: Host, nowMs: number): Promise<Finding> {
  const unread = (why: string) => ({ ok: false, message: `L’horloge de l’hôte n’a pas pu être lue (${why}).` })
  try {
    const { code, stdout, stderr } = await host.exec(['date', '+%s'])
    const text = stdout.trim().split('\n').at(-1) ?? ''
    if (code !== 0 || !/^\d+$/.test(text)) return unread(stderr.trim() || `« ${text} »`)
    const seconds = Math.abs(Number(text) - nowMs / 1000)
    if (seconds <= CLOCK_SECONDS) return { ok: true, message: 'Les deux horloges concordent.' }
    return {
      ok: false,
      message: `L’horloge de l’hôte diffère de ${Math.round(seconds)} s : réglez les deux (timedatectl set-ntp true).`,
    }
  } catch (error) {
    if (!(error instanceof SshError)) throw error
    return unread(error.message)
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
