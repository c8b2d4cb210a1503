import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

interface Certificate {
  commonName: string
  cert: string
  key: string
}

/**
 * Creates a key and a certificate for this name, both in PEM. Self-signed unless `by` signs it, and valid for a day
 * around now by default.
 */
export function selfSigned(
  commonName = 'panel.test',
  { kind = 'ec', by, from, until }: { kind?: 'ec' | 'rsa'; by?: Certificate; from?: Date; until?: Date } = {},
): Certificate {
  const { privateKey, publicKey } = kind === 'ec' ? generateKeyPairSync('ec', EC) : generateKeyPairSync('rsa', RSA)
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const signer = createPrivateKey(by?.key ?? key)
  const algorithm = signer.asymmetricKeyType === 'ec' ? ECDSA_WITH_SHA256 : RSA_WITH_SHA256
  const serial = der(INTEGER, Buffer.concat([Buffer.from([1]), randomBytes(8)]))
  const validity = der(
    SEQUENCE,
    utcTime(from?.getTime() ?? Date.now() - DAY_MS),
    utcTime(until?.getTime() ?? Date.now() + DAY_MS),
  )
  const [issuer, subject] = [nameOf(by?.commonName ?? commonName), nameOf(commonName)]
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const body = der(SEQUENCE, serial, algorithm, issuer, validity, subject, spki)
  const signature = sign('sha256', body, signer)
  const whole = der(SEQUENCE, body, algorithm, der(BIT_STRING, Buffer.from([0]), signature))
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? []
  const cert = ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
  return { commonName, cert, key }
}

const EC = { namedCurve: 'P-256' }
const RSA = { modulusLength: 2048 }
const DAY_MS = 86_400_000
const INTEGER = 0x02
const BIT_STRING = 0x03
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const SEQUENCE = 0x30
const SET = 0x31
const COMMON_NAME = Buffer.from('0603550403', 'hex')

const ECDSA_WITH_SHA256 = der(SEQUENCE, Buffer.from('06082a8648ce3d040302', 'hex'))
const RSA_WITH_SHA256 = der(SEQUENCE, Buffer.from('06092a864886f70d01010b0500', 'hex'))

function nameOf(commonName: string): Buffer {
  return der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from(commonName)))))
}

/** A tag, a length of at most 65,535, and the content. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const { length } = body
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}

function utcTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, '')
  return der(UTC_TIME, Buffer.from(`${digits.slice(2, 14)}Z`))
}
