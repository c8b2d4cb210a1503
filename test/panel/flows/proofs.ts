import type { Page } from 'playwright-core'
import { openDatabase } from '../../../db/libsql/client.ts'
import { codeOf } from '../../functions/factors/person.ts'

/** The code of an authenticator now, or so many steps away. */
export function codeNow(secret: string, away = 0): string {
  return codeOf(secret, Math.floor(Date.now() / 30_000) + away)
}

/** Makes the last proofs of all sessions too old, as an hour would; windows notice with their next token. */
export async function ageProofs(folder: string): Promise<void> {
  const db = await openDatabase(`file:${folder}/panel.db`)
  await db.run(`UPDATE sessions SET proven_at = '2026-01-01T00:00:00.000Z'`)
  await db.close()
}

/** Reads the secret that the open dialog shows to those who cannot scan it. */
export async function shownSecret(page: Page): Promise<string> {
  await page.locator('.add-factor summary').click()
  return (await page.locator('.secret').innerText()).replaceAll(' ', '')
}

/** Gives the browser a device with passkeys, whose user always agrees. */
export async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}
