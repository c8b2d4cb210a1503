import { createDecipheriv } from 'node:crypto'
import type { Connection } from 'ssh2'

/*
 * ssh2 1.17 refuses packets of more than 35,000 bytes, sshd those of more than 256 KiB. The command of a protected
 * upgrade is one packet of some 55,000 bytes, so the imitated host takes as long packets as sshd does. It does that for
 * AES-GCM alone, which the service prefers: ssh2 looks at the length of a packet when it reads it, so it is read here.
 */

/** sshd's PACKET_MAX_SIZE. */
const LONGEST = 256 * 1024
const TAG = 16

/** The state of ssh2's decipher for AES-GCM, within a packet and before one. */
interface Decipher {
  _decipherSSLName: 'aes-128-gcm' | 'aes-256-gcm'
  _decipherKey: Buffer
  _decipherIV: Buffer
  _decipherInstance: unknown
  _len: number
  _lenBytes: number
  _pktLen: number
  _tagPos: number
  decrypt(data: Buffer, from: number, end: number): number | undefined
}

/** Lets a connection of ssh2's server receive packets as long as those of sshd. */
export function acceptLongPackets(connection: Connection): void {
  const protocol: unknown = Reflect.get(connection, '_protocol')
  if (typeof protocol !== 'object' || protocol === null) return
  // Each exchange of keys makes a new one.
  let decipher: unknown = Reflect.get(protocol, '_decipher')
  Object.defineProperty(protocol, '_decipher', {
    get: () => decipher,
    set(made: unknown) {
      decipher = made
      if (isDecipher(made)) extend(made)
    },
  })
}

function isDecipher(made: unknown): made is Decipher {
  return typeof made === 'object' && made !== null && made.constructor.name === 'AESGCMDecipherNative'
}

/** Reads the length of each packet, and gives ssh2 what follows it, one packet at a time. */
function extend(decipher: Decipher): void {
  const decrypt = decipher.decrypt.bind(decipher)
  decipher.decrypt = (data, from, end) => {
    let at = from
    while (at < end) {
      for (; decipher._lenBytes < 4 && at < end; at += 1) {
        decipher._len = decipher._len * 256 + data.readUInt8(at)
        decipher._lenBytes += 1
        if (decipher._lenBytes === 4) begin(decipher)
      }
      if (at === end) return undefined
      const stop = Math.min(end, at + decipher._len - decipher._pktLen + TAG - decipher._tagPos)
      const ended = decrypt(data.subarray(0, stop), at, stop)
      if (ended !== undefined) return ended
      at = stop
    }
    return undefined
  }
}

function begin(decipher: Decipher): void {
  const { _len: length } = decipher
  if (length > LONGEST || length < 16 || length % 16 !== 0) throw new Error('Bad packet length')
  const aad = Buffer.alloc(4)
  aad.writeUInt32BE(length)
  const instance = createDecipheriv(decipher._decipherSSLName, decipher._decipherKey, decipher._decipherIV)
  decipher._decipherInstance = instance.setAutoPadding(false).setAAD(aad)
}
