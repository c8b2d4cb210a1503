import ssh2 from 'ssh2'

/** A new ed25519 private key in OpenSSH's own form. */
export function newHostKey(): string {
  for (;;) {
    const key = ssh2.utils.generateKeyPairSync('ed25519', { comment: 'demo' }).private
    // ssh2 1.17 drops leading zero bytes of the public half: one key in 256 cannot be read back.
    if (!(ssh2.utils.parseKey(key) instanceof Error)) return key
  }
}
