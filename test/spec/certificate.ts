import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A new key and a certificate for it, by that name, that it has signed itself, valid for a day; both in PEM. */
export function selfSigned(commonName = 'panel.test'): { cert: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  })
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256)
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from(commonName)))))
  const serial = der(INTEGER, Buffer.concat([Buffer.from([1]), randomBytes(8)]))
  const now = Date.now()
  const validity = der(SEQUENCE, utcTime(now - DAY_MS), utcTime(now + DAY_MS))
  const body = der(SEQUENCE, serial, algorithm, name, validity, name, publicKey)
  const signature = sign('sha256', body, createPrivateKey(privateKey))
  const whole = der(SEQUENCE, body, algorithm, der(BIT_STRING, Buffer.from([0]), signature))
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? []
  const cert = ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
  return { cert, key: privateKey }
}

const DAY_MS = 86_400_000
const INTEGER = 0x02
const BIT_STRING = 0x03
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const SEQUENCE = 0x30
const SET = 0x31
const ECDSA_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex')
const COMMON_NAME = Buffer.from('0603550403', 'hex')

/** A tag, a length of at most 65,535, and what is in it. */
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
