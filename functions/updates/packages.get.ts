import * as z from 'zod'
import { readCheck, readCheckedPackages } from '../../db/checks.ts'
import type { Database } from '../../db/libsql/database.ts'
import { READS } from '../../runtime/function.ts'
import { succeeded } from '../../ssh/ssh.ts'
import { inContainer } from '../hypervisor/pct.ts'
import { parseTarget, shortened, Target } from '../hypervisor/target.ts'
import { isManaged } from '../managers/managed-scripts.ts'
import { MANAGER_NAMES } from '../managers/manager.ts'
import { PackageUpdate } from '../managers/package-update.ts'
import { defineFunction } from '../services.ts'
import { LIST_UPGRADABLE, parseUpgradable } from './apt.ts'

const Checked = z.object({ manager: z.enum(MANAGER_NAMES).nullable() })
const Upgrades = z.array(PackageUpdate.pick({ name: true, from: true, to: true, action: true }))

/** Returns the upgrades that the last check of a target without apt has found; undefined for another target. */
async function checkedUpgrades(db: Database, target: string) {
  const row = await readCheck(db, target)
  const { manager = null } = Checked.safeParse(JSON.parse(row?.summary ?? 'null')).data ?? {}
  if (!isManaged(manager)) return undefined
  const stored = Upgrades.parse(JSON.parse((await readCheckedPackages(db, target)) ?? '[]'))
  return stored.flatMap(({ name, from, to, action }) =>
    action === 'upgrade' && from !== null && to !== null ? [{ name, version: to, old_version: from }] : [],
  )
}

export default defineFunction({
  method: 'GET',
  path: '/api/updates/packages',
  summary: 'Packages of a target',
  description:
    'Lists the packages of the host or of one container that have an update. apt is asked now; of another package manager, whose lists a look must not refresh, it is what the last check has found.',
  auth: 'user',
  targets: ({ query: { target } }) => [target],
  rateLimit: READS,
  request: { query: z.object({ target: Target }), refusal: 'target_missing' },
  response: z.array(z.object({ name: z.string(), version: z.string(), old_version: z.string() })),
  example: {
    query: { target: 'lxc:101' },
    response: [{ name: 'librig2', version: '1:2.0~rc1-1+deb12u3', old_version: '1.4.2-1+b1' }],
  },
  errors: ['target_invalid', 'ssh_incomplete', 'ssh_password_unreadable', 'ssh_failed', 'host_answer_too_long'],

  async handler({ query: { target: text } }, { db, user: { id: user }, host, settings, fail }) {
    await settings.sshAccount()
    const target = parseTarget(text)
    if (!target || target.kind === 'all') throw fail('target_invalid', { values: { target: shortened(text) } })
    const checked = await checkedUpgrades(db, text)
    if (checked) return checked
    const output =
      target.kind === 'host'
        ? await host.exec(LIST_UPGRADABLE, { user })
        : await host.exec(inContainer(target.id, LIST_UPGRADABLE), {
            user,
            rights: 'command',
            verb: ['packages', target.id],
          })
    return await parseUpgradable(succeeded(output))
  },
})
