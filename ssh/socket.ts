import { createRequire } from 'node:module'
import { Socket } from 'node:net'

/** Room for several packets of 32 KiB: a packet that lies whole in one read is decrypted without another copy. */
const A_READ = 512 * 1024

/** Shared by the reads of all sockets: each read is consumed before the next one begins. */
const space = Buffer.allocUnsafeSlow(A_READ)

/** Whether ssh2 has its native addon: only where npm ran its install script, never in the bundle. */
const hasAddon = exists('ssh2/lib/protocol/crypto/build/Release/sshcrypto.node')

/** Returns a packet in memory that holds no other packet: the native addon decrypts all packets of a read in place. */
export function ownPacket(bytes: Buffer): Buffer {
  return hasAddon ? Buffer.from(bytes) : bytes
}

/** A socket for ssh2 that is not connected yet. */
export interface SshSocket {
  socket: Socket
  /** Called with the SSH name of the cipher when it is known; from then on the socket copies as little as it allows. */
  ciphered(name: string): void
  /** The plain-text lines that the server has sent so far, up to its identification. */
  greeting(): readonly string[]
}

/** Maximum text kept of the lines before the identification. */
const A_GREETING = 4_096

/**
 * Node allocates memory for every read, and a gigabyte of output fills the memory outside of V8’s heap with garbage.
 * Here all reads share one buffer. Consumers that keep the bytes receive a copy: ssh2 during the key exchange, with a
 * cipher other than AES-GCM (which is decrypted at once into new memory), and with its native addon, which decrypts
 * in place.
 */
export function createSshSocket(): SshSocket {
  let shared = false
  let said = ''
  let greeted = false
  const listen = (bytes: Buffer) => {
    said = (said + bytes.toString('latin1')).slice(0, A_GREETING)
    greeted = said.length === A_GREETING || /^SSH-.*\n/m.test(said)
  }
  const socket = new Socket({
    onread: {
      buffer: space,
      callback(size) {
        const bytes = space.subarray(0, size)
        if (!greeted) listen(bytes)
        socket.emit('data', shared ? bytes : Buffer.from(bytes))
        return true
      },
    },
  })
  return {
    socket,
    ciphered(name) {
      shared = !hasAddon && /-gcm(@openssh\.com)?$/.test(name)
    },
    greeting: () => said.split(/\r?\n/),
  }
}

function exists(file: string): boolean {
  try {
    createRequire(import.meta.url).resolve(file)
    return true
  } catch {
    return false
  }
}
