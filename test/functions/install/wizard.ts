import type { Account } from '../../../demo/account.ts'
import check from '../../../functions/install/check.post.ts'
import install from '../../../functions/install/install.post.ts'
import status from '../../../functions/install/status.get.ts'
import { testApp } from '../../app.ts'
import { temporaryFolder } from '../../db/folder.ts'

export const ACCOUNTS: Record<string, Account> = {
  asks: { password: 'pw-of-asks', uid: 1200, groups: ['asks', 'sudo'], sudo: 'password' },
  free: { password: 'pw-of-free', uid: 1201, groups: ['free', 'sudo'], sudo: 'nopasswd' },
  rule: { password: 'pw-of-rule', uid: 1202, groups: ['rule'], sudo: 'rule' },
  none: { password: 'pw-of-none', uid: 1203, groups: ['none'] },
}

/** Starts a service that is not installed, and returns the token of its console. */
export async function notInstalled() {
  const dataDir = await temporaryFolder()
  const app = await testApp([status, check, install], { dataDir, ssh: { host: '' } })
  const setup_token = await app.services.setupToken.make()
  return { ...app, dataDir, setup_token }
}

/** Starts an installed service. */
export async function installed() {
  const dataDir = await temporaryFolder()
  const app = await testApp([status, check, install], { dataDir })
  const setup_token = await app.services.setupToken.make()
  return { ...app, dataDir, setup_token }
}
