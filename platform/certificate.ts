/*
 * Reads the TLS certificate and its key, and replaces them in the running server when the files change, so that a
 * renewal needs no restart.
 */

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import type { Server } from 'node:https'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { Clock } from './clock.ts'
import { type Config, ConfigError } from './config.ts'
import type { Log } from './log.ts'

type Files = NonNullable<Config['tls']>

/** The contents of the two files: a certificate with its chain, and its key. */
export interface Pair {
  cert: string
  key: string
  /** The first certificate of the file, which is the server's own. */
  leaf: X509Certificate
}

/**
 * The interval between two looks at the files. A look is two short reads, less than a millisecond. It compares
 * contents, because a file watcher misses a changed link in the path (certbot, Kubernetes), and times can be set.
 */
const LOOK_MS = 5_000

/** Limit for a file; a chain has a few KiB. */
const MOST_BYTES = 256 * 1024

const DAY_MS = 86_400_000
/** A working renewal has happened by then: certbot begins thirty days before the end. */
const SOON_MS = 7 * DAY_MS
/** The same as a share of the lifetime, for certificates that are valid for a few days. */
const SOON_SHARE = 1 / 4

/** Set here and not by the machine, because older versions are unsafe. */
const PROTOCOLS: SecureContextOptions = { minVersion: 'TLSv1.2' }

/** Calls `look` repeatedly. Returns a function that ends this. */
export type Repeat = (look: () => Promise<void>) => () => void

export function every(ms: number): Repeat {
  return (look) => {
    let looking = false
    const timer = setInterval(() => {
      // A network file system may be slow.
      if (looking) return
      looking = true
      void look().finally(() => {
        looking = false
      })
    }, ms)
    timer.unref()
    return () => clearInterval(timer)
  }
}

/** Reads and checks the files. Rejects with a ConfigError that names the bad file and the reason. */
export async function readPair(files: Files): Promise<Pair> {
  return judge(await readTexts(files), files)
}

export function contextOf({ cert, key }: Pair): SecureContextOptions {
  return { ...PROTOCOLS, cert, key }
}

/**
 * Returns the whole days until a certificate ends (negative afterwards), and whether it should have been renewed by
 * now.
 */
export function lifeOf({ validFrom, validTo }: X509Certificate, now: Date) {
  const end = Date.parse(validTo)
  const leftMs = end - now.getTime()
  const soonMs = Math.min(SOON_MS, (end - Date.parse(validFrom)) * SOON_SHARE)
  const state: 'well' | 'soon' | 'over' = leftMs <= 0 ? 'over' : leftMs < soonMs ? 'soon' : 'well'
  return { days: Math.floor(leftMs / DAY_MS), until: new Date(end).toISOString(), state }
}

/** The log line for each state of a certificate; a renewed certificate starts with `well` again. */
const END_NEWS = {
  well: undefined,
  soon: { level: 'warn', text: 'the TLS certificate ends soon, and has not been renewed' },
  over: { level: 'error', text: 'the TLS certificate has expired' },
} as const

type Texts = Pick<Pair, 'cert' | 'key'>
const textOf = ({ cert, key }: Texts) => `${cert}\n${key}`

/** The result of a look, and the reaction to it; the first line that applies counts. */
const REACTIONS = {
  /** The files differ from the previous look: they may be half written, or belong to two renewals. */
  changing: 'wait',
  /** The files are those that were accepted or refused last. */
  known: 'wait',
  /** The files are the certificate in use again, after refused files. */
  restored: 'remember',
  /** The files are a valid new pair. */
  renewed: 'take',
  /** The files cannot be read or cannot be used for TLS. */
  bad: 'refuse',
} as const

/**
 * Gives a listening server the certificate that the files contain; open connections keep theirs. Changed files are
 * accepted or refused once two looks in a row have found the same. A refusal is logged once, and the certificate in use
 * stays.
 */
export function keepRenewed(
  server: Server,
  first: Pair,
  { files, log, clock, repeat = every(LOOK_MS) }: { files: Files; log: Log; clock: Clock; repeat?: Repeat | undefined },
): void {
  let inUse = first
  let logged: keyof typeof END_NEWS = 'well'
  /** The contents, or the error of reading them: as the last look found them, and as they were last judged. */
  let [seen, judged] = [textOf(first), textOf(first)]

  const logEnd = () => {
    const { state, until } = lifeOf(inUse.leaf, clock())
    if (state === logged) return
    logged = state
    const news = END_NEWS[state]
    if (news) log[news.level]({ until }, news.text)
  }

  const find = (
    found: Texts | ConfigError,
    text: string,
  ): { as: keyof typeof REACTIONS; pair?: Pair; error?: string } => {
    if (text !== seen) return { as: 'changing' }
    if (text === judged) return { as: 'known' }
    if (found instanceof ConfigError) return { as: 'bad', error: found.message }
    if (text === textOf(inUse)) return { as: 'restored' }
    try {
      return { as: 'renewed', pair: judge(found, files) }
    } catch (error) {
      return { as: 'bad', error: asConfigError(error).message }
    }
  }

  const take = (pair: Pair) => {
    // The new context has new ticket keys, so no session of the previous certificate is resumed.
    server.setSecureContext(contextOf(pair))
    inUse = pair
    logged = 'well'
    const { subject, fingerprint256 } = pair.leaf
    log.info({ subject, fingerprint256, until: lifeOf(pair.leaf, clock()).until }, 'TLS certificate renewed')
  }

  const look = async () => {
    const found = await readTexts(files).catch((error: unknown) => asConfigError(error))
    const text = found instanceof ConfigError ? found.message : textOf(found)
    const { as, pair, error } = find(found, text)
    seen = text
    const reaction = REACTIONS[as]
    if (reaction !== 'wait') judged = text
    try {
      if (pair) take(pair)
    } catch (error) {
      const { message } = asConfigError(error)
      log.warn({ error: message }, 'the TLS files are not good, the former certificate stays in use')
    }
    if (reaction === 'refuse') log.warn({ error }, 'the TLS files are not good, the former certificate stays in use')
    logEnd()
  }

  server.once('listening', () => {
    logEnd()
    server.once('close', repeat(look))
  })
}

async function readTexts({ cert, key }: Files): Promise<Pick<Pair, 'cert' | 'key'>> {
  const read = async (name: string, file: string) => {
    try {
      // Pipes and devices cannot be read repeatedly, and a read may never end.
      const found = await stat(file)
      if (!found.isFile()) throw new Error('ce n’est pas un fichier ordinaire')
      if (found.size > MOST_BYTES) throw new Error(`il dépasse ${MOST_BYTES / 1024} Kio`)
      return await readFile(file, 'utf8')
    } catch (cause) {
      throw new ConfigError(`${name} : ${file} ne peut pas être lu (${messageOf(cause)})`, { cause })
    }
  }
  return { cert: await read('PANEL_TLS_CERT', cert), key: await read('PANEL_TLS_KEY', key) }
}

/** Throws a ConfigError for files that cannot be used for TLS. */
function judge({ cert, key }: Pick<Pair, 'cert' | 'key'>, files: Files): Pair {
  const leaf = parsed(`PANEL_TLS_CERT : un certificat en PEM est attendu dans ${files.cert}`, () => {
    return new X509Certificate(cert)
  })
  if (/^(-----BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED)/m.test(key))
    throw new ConfigError(
      `PANEL_TLS_KEY : ${files.key} est protégée par un mot de passe, que le service ne demande pas : ôtez-le (openssl pkey)`,
    )
  const own = parsed(`PANEL_TLS_KEY : une clé privée en PEM est attendue dans ${files.key}`, () =>
    createPrivateKey(key),
  )
  // OpenSSL does not compare keys of different types.
  if (!leaf.checkPrivateKey(own))
    throw new ConfigError(
      `PANEL_TLS_CERT, PANEL_TLS_KEY : ${files.key} n’est pas la clé du certificat de ${files.cert}`,
    )
  const pair = { cert, key, leaf }
  parsed(`PANEL_TLS_CERT : ${files.cert} ne convient pas`, () => createSecureContext(contextOf(pair)))
  return pair
}

function parsed<value>(expected: string, parse: () => value): value {
  try {
    return parse()
  } catch (cause) {
    throw new ConfigError(`${expected} (${messageOf(cause)})`, { cause })
  }
}

function asConfigError(error: unknown): ConfigError {
  return error instanceof ConfigError ? error : new ConfigError(messageOf(error), { cause: error })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
