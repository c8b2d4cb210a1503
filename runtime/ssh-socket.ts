import { createRequire } from 'node:module'
import { Socket } from 'node:net'

/** Several packets of 32 KiB at once: those that lie whole in a read are deciphered without another copy. */
const A_READ = 512 * 1024

/** For the reads of all sockets: each is taken before the next one begins. */
const space = Buffer.allocUnsafeSlow(A_READ)

/** Whether ssh2 has been built with its addon: where npm ran its install script, never in the bundle. */
const hasAddon = isThere('ssh2/lib/protocol/crypto/build/Release/sshcrypto.node')

/** A socket for ssh2, not connected yet. */
export interface SshSocket {
  socket: Socket
  /** Called when the connection's cipher is known, by its name in SSH: from then on as little is copied as it allows. */
  ciphered(name: string): void
  /** The lines that the server has sent so far, up to that by which it says what it is, in clear. */
  greeting(): readonly string[]
}

/** So much is kept of what a server says before it says what it is. */
const A_GREETING = 4_096

/**
 * Node gives every read memory of its own, which a gigabyte of output fills with garbage outside of V8's heap. Here all
 * reads share one space. Whoever keeps what it was given gets a copy: ssh2 while keys are exchanged, with a cipher other
 * than AES-GCM, which is deciphered at once into new memory, and with its native addon, which deciphers in place.
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

function isThere(file: string): boolean {
  try {
    createRequire(import.meta.url).resolve(file)
    return true
  } catch {
    return false
  }
}
