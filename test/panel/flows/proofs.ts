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

/** A code that the secret has at none of the steps around this one. */
export function wrongCode(secret: string): string {
  const near = new Set([-3, -2, -1, 0, 1, 2, 3].map((away) => codeNow(secret, away)))
  return (
    ['000000', '111111', '222222', '333333', '444444', '555555', '666666', '777777'].find((code) => !near.has(code)) ??
    ''
  )
}

/** Locks a kind of factor of everybody for an hour, as ten wrong answers do. */
export async function lockFactor(folder: string, kind: 'totp' | 'recovery'): Promise<void> {
  const db = await openDatabase(`file:${folder}/panel.db`)
  const until = new Date(Date.now() + 3_600_000).toISOString()
  await db.run(
    `INSERT INTO factor_locks (user_id, kind, answers, last_at, locked_until) SELECT id, ?, 10, ?, ? FROM users WHERE 1
     ON CONFLICT (user_id, kind) DO UPDATE SET locked_until = excluded.locked_until`,
    [kind, new Date().toISOString(), until],
  )
  await db.close()
}

/** Ends the API tokens of a name, as time would. */
export async function expireTokens(folder: string, name: string): Promise<void> {
  const db = await openDatabase(`file:${folder}/panel.db`)
  await db.run(`UPDATE api_tokens SET expires_at = '2026-01-01T00:00:00.000Z' WHERE name = ?`, [name])
  await db.close()
}
