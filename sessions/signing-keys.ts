/*
 * The keys that sign tokens. All instances of a database share them, so that each accepts the tokens of the others.
 */

import { createPrivateKey, createPublicKey, type webcrypto } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, exportPKCS8, generateKeyPair, importJWK, importPKCS8 } from 'jose'
import * as z from 'zod'
import type { Database, Statement } from '../db/libsql/database.ts'
import {
  addSigningKey,
  findSigningKey,
  type KeyOrigin,
  readSigningKeys,
  type SigningKeyRow,
} from '../db/signing-keys.ts'
import { type Clock, timestamp } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { SecretError, type Secrets } from '../platform/secrets.ts'

export const ALGORITHM = 'RS256'

/** A public key as the key set publishes it (RFC 7517). */
export const PublicKey = z.object({
  kty: z.literal('RSA'),
  n: z.string(),
  e: z.string(),
  kid: z.string(),
  alg: z.literal(ALGORITHM),
  use: z.literal('sig'),
})
export type PublicKey = z.infer<typeof PublicKey>

type Key = webcrypto.CryptoKey | Uint8Array

export interface Signer {
  kid: string
  key: Key
}

export interface SigningKeys {
  /** Returns the key that signs new tokens. */
  signer(): Signer
  /** Returns the public key with this id; reads the database when this instance does not know it yet. */
  find(kid: string): Promise<Key | undefined>
  /** Returns every public key whose tokens are accepted. */
  published(): PublicKey[]
  /** Reads the keys again; resolves to true when a known key was removed. */
  reload(): Promise<boolean>
}

interface Source {
  db: Database
  secrets: Secrets
  clock: Clock
  log: Log
}

/** The SHA-256 thumbprint of RFC 7638, the only valid form of a key id. */
const KID = /^[\w-]{43}$/

/**
 * Loads the signing keys of the database. The signer is, in this order: the key that the last rotation added, the key
 * of the environment, the newest key that this instance can decrypt, a new key. A key that cannot be decrypted stays:
 * its tokens are verified until they expire. A revoked key is treated as missing and cannot be added again.
 */
export async function createSigningKeys(source: Source & { jwtKey: string | undefined }): Promise<SigningKeys> {
  const { db, secrets, log, jwtKey } = source
  const environment = jwtKey === undefined ? undefined : { pem: jwtKey, ...(await publicHalf(jwtKey)) }
  const known = new Map<string, { key: Key; published: PublicKey }>()
  const logged = new Set<string>()
  let signer: Signer | undefined
  /** The key of the environment can never be added again. */
  let isRevoked = false

  const logOnce = (kid: string, write: () => void) => {
    if (!logged.has(kid)) write()
    logged.add(kid)
  }

  const learn = async (row: SigningKeyRow) => {
    const published = PublicKey.parse(JSON.parse(row.public_jwk))
    const entry = { key: await importJWK(published, ALGORITHM), published }
    known.set(row.kid, entry)
    return entry
  }

  const read = async (): Promise<SigningKeyRow[]> => {
    const rows = await readSigningKeys(db)
    if (!environment || isRevoked || rows.some(({ kid }) => kid === environment.kid)) return rows
    await addKey(source, environment.pem, 'environment')
    const again = await readSigningKeys(db)
    isRevoked = !again.some(({ kid }) => kid === environment.kid)
    if (isRevoked) log.error({ kid: environment.kid }, 'PANEL_JWT_KEY is revoked: change it')
    return again
  }

  const choose = async (rows: readonly SigningKeyRow[]): Promise<Signer | undefined> => {
    for (const row of byPreference(rows, environment?.kid)) {
      const { kid } = row
      if (signer?.kid === kid) return signer
      const pem = kid === environment?.kid ? environment.pem : openKey(secrets, row)
      if (pem !== undefined) return { kid, key: await importPKCS8(pem, ALGORITHM) }
      logOnce(kid, () => log.warn({ kid }, 'a signing key cannot be decrypted; another one signs'))
    }
    return undefined
  }

  const reload = async (): Promise<boolean> => {
    let rows = await read()
    let chosen = await choose(rows)
    if (!chosen) {
      await addKey(source, await newPem(), 'made')
      rows = await read()
      chosen = await choose(rows)
    }
    signer = chosen
    for (const row of rows) if (!known.has(row.kid)) await learn(row)
    const current = new Set(rows.map(({ kid }) => kid))
    const gone = [...known.keys()].filter((kid) => !current.has(kid))
    for (const kid of gone) known.delete(kid)
    return gone.length > 0
  }

  await reload()

  return {
    signer() {
      if (!signer) throw new Error('no key signs')
      return signer
    },
    async find(kid) {
      const entry = known.get(kid)
      if (entry) return entry.key
      const row = KID.test(kid) ? await findSigningKey(db, kid) : undefined
      return row && (await learn(row)).key
    },
    published: () => [...known.values()].map(({ published }) => published),
    reload,
  }
}

/**
 * Adds a new signing key and runs the other statements in the same transaction. Every instance signs with the key
 * within a minute. Returns the key id and the number of rows that each of the other statements changed.
 */
export async function rotateSigningKey(
  source: Omit<Source, 'log'>,
  more: (kid: string) => readonly Statement[] = () => [],
): Promise<{ kid: string; changed: number[] }> {
  return addKey(source, await newPem(), 'rotation', more)
}

/** Returns the id of the key with which an instance with these secrets signs, if there is one. */
export async function signingKeyOf(
  { db, secrets }: Pick<Source, 'db' | 'secrets'>,
  jwtKey: string | undefined,
): Promise<string | undefined> {
  const own = jwtKey === undefined ? undefined : (await publicHalf(jwtKey)).kid
  const rows = byPreference(await readSigningKeys(db), own)
  return rows.find((row) => row.kid === own || openKey(secrets, row) !== undefined)?.kid
}

/** Says whether these secrets sealed the key. */
export function isSealedBy(secrets: Secrets, row: SigningKeyRow): boolean {
  return openKey(secrets, row) !== undefined
}

/**
 * Sorts keys by preference for signing; `rows` are sorted newest first. A rotated key precedes the key of the
 * environment if it is newer.
 */
function byPreference(rows: readonly SigningKeyRow[], environment: string | undefined): SigningKeyRow[] {
  const at = rows.findIndex(({ kid }) => kid === environment)
  const preferred = rows.filter(({ origin }, index) => index === at || (index < at && origin === 'rotation'))
  return [...preferred, ...rows.filter((row) => !preferred.includes(row))]
}

/** Returns the private key in PEM; undefined when another secret key sealed it. */
function openKey(secrets: Secrets, { kid, private_sealed }: SigningKeyRow): string | undefined {
  try {
    return secrets.open(sealedAs(kid), private_sealed)
  } catch (error) {
    if (error instanceof SecretError) return undefined
    throw error
  }
}

async function newPem(): Promise<string> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { modulusLength: 2048, extractable: true })
  return exportPKCS8(privateKey)
}

async function publicHalf(pem: string): Promise<PublicKey> {
  const jwk = await exportJWK(createPublicKey(createPrivateKey(pem)))
  return PublicKey.parse({ ...jwk, kid: await calculateJwkThumbprint(jwk), alg: ALGORITHM, use: 'sig' })
}

async function addKey(
  { db, secrets, clock }: Omit<Source, 'log'>,
  pem: string,
  origin: KeyOrigin,
  more: (kid: string) => readonly Statement[] = () => [],
): Promise<{ kid: string; changed: number[] }> {
  const published = await publicHalf(pem)
  const { kid } = published
  const row = {
    kid,
    public_jwk: JSON.stringify(published),
    private_sealed: secrets.seal(sealedAs(kid), pem),
    origin,
    created_at: timestamp(clock()),
  }
  return { kid, changed: await addSigningKey(db, row, more(kid)) }
}

/** Returns the context to which the sealed private key is bound. */
function sealedAs(kid: string): string {
  return `signing_key:${kid}`
}
