import { readChannels, rewriteSettings } from '../db/notifications/channels.ts'
import type { Database } from '../db/libsql/database.ts'
import { SecretError, type Secrets } from '../platform/secrets.ts'
import { hasBareUrl, openChannel, sealedSettings } from './channel-secrets.ts'

/**
 * Seals the addresses of webhooks that a former version has stored bare. A channel whose secrets another key has sealed keeps its
 * address: nobody could enter the rest of its settings for it.
 */
export async function sealFormerUrls({ db, secrets }: { db: Database; secrets: Secrets }): Promise<void> {
  for (const row of (await readChannels(db)).filter(hasBareUrl)) {
    try {
      await rewriteSettings(db, row, sealedSettings(row, openChannel(row, secrets.open), secrets.seal))
    } catch (error) {
      if (!(error instanceof SecretError)) throw error
    }
  }
}
