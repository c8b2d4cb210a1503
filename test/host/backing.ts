import { onTestFinished } from 'vitest'
import * as z from 'zod'
import { type Caller, signIn } from './client.ts'
import { narrowAccount } from './narrow.ts'
import { calls, offer, protectingAs } from './protecting.ts'
import { type Account, inside, rig } from './rig.ts'
import { startService } from './service.ts'

/** A policy with a backup, on the storage `nas`. */
export const BACKUP = { before: 'backup', backup_storage: 'nas' } as const

const Refusal = z.looseObject({ code: z.string(), error: z.string(), destroys: z.array(z.string()).optional() })

/** Allows the account ops more programs than its own. */
export const allow = (...programs: string[]) =>
  inside('host', `echo 'ops ALL=(root) NOPASSWD: ${programs.join(', ')}' >/etc/sudoers.d/more`)

/** Starts the service on a new host, with its own policies, and signs an administrator in. */
export async function startBacking(account: Account) {
  await rig('reset')
  if (account === 'narrow') await narrowAccount()
  const service = await startService({ as: account, isProtected: true })
  const caller = await signIn(service, 'alice')
  return { service, caller, alice: protectingAs(caller) }
}

/** The archives of container 101 on every storage, as volumes. */
export const archives = async () => (await rig('backups', '101')).split('\n').filter((name) => name !== '')

/** All files about container 101 in the folders of backups. */
export const files = () =>
  inside(
    'host',
    'find /var/lib/vz/dump /mnt/pve/nas/dump /var/lib/rig/vault/ct/101 -name "*101-*" -o -name "*Z*" 2>/dev/null || true',
  )

export const isLocked = async () => (await inside('host', 'grep -c ^lock: /etc/pve/lxc/101.conf || true')) !== '0'

/** The answer to a rollback that starts nothing. */
export async function refusedRollback(caller: Caller, id: string, body: object = {}) {
  const answer = await caller.post(`/api/updates/jobs/${id}/rollback`, body)
  return { status: answer.status, ...Refusal.parse(answer.body) }
}

/** A container whose root has no snapshots, with rig-killer 2.0 on offer. */
export async function threaten(): Promise<void> {
  await rig('reset', '101')
  await rig('storage', '101', 'dir')
  await rig('killer', '101', 'on')
  await rig('refresh', '101')
  await calls()
}

/** A container with an upgrade that breaks nothing. */
export async function calm(): Promise<void> {
  await rig('reset', '101')
  await offer('rig-calm')
  await calls()
}

/** Delays something in the rig until the test ends. */
export async function during(command: 'vzdump-delay' | 'restore-delay', ms: number): Promise<void> {
  await rig(command, String(ms))
  onTestFinished(async () => {
    await rig(command, '0')
  })
}
