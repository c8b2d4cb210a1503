import { createHmac, timingSafeEqual } from 'node:crypto'
import type { SetupToken } from './setup-token.ts'

/** The setup token where no file keeps one: every instance derives the same from the secret key, which tells nothing of it. */
export function derivedSetupToken(secretKey: Buffer): SetupToken {
  const own = createHmac('sha256', secretKey).update('ops-panel setup token').digest('base64url').slice(0, 24)
  return {
    make: async () => own,
    async matches(given) {
      const [one, other] = [Buffer.from(own), Buffer.from(given)]
      return one.length === other.length && timingSafeEqual(one, other)
    },
    // It is of no use once there is a host.
    async remove() {},
  }
}
