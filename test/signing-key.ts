import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK } from 'jose'
import type { TestProject } from 'vitest/node'

export interface SigningKey {
  kid: string
  pem: string
  public_jwk: string
}

declare module 'vitest' {
  interface ProvidedContext {
    signingKey: SigningKey
  }
}

/** One key for the whole run: creating one takes a tenth of a second, and most tests need any key. */
export default async function setup({ provide }: TestProject): Promise<void> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const jwk = await exportJWK(createPublicKey(privateKey))
  const kid = await calculateJwkThumbprint(jwk)
  provide('signingKey', { kid, pem, public_jwk: JSON.stringify({ ...jwk, kid, alg: 'RS256', use: 'sig' }) })
}
