import * as z from 'zod'
import { findModule, saveModule } from '../../db/modules.ts'
import { DeploymentId } from '../../modules/modules.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { ModuleId } from '../modules/module.ts'
import { expectUnchanged, namesOf, recordOf } from '../registry/installation.ts'
import { forgeOf } from '../registry/registry.ts'
import { defineFunction } from '../services.ts'
import { Choice, readRelease, RELEASE_FAILURES } from './release.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/registry/modules/:id/install',
  summary: 'Install a module',
  description:
    'Installs a release of a module from the forge, exactly as it was shown. `commit` alone is the newest commit of the list. With `tag`, the tag must still point at the commit; with `previous`, the commit is the release that the current one has replaced; with `pinned`, it is the installed one, whose files are fetched again. If there is another commit by now, the answer is `commit_changed`. Every file is fetched and checked before the answer. Code needs a restart; `deployment` is the id of the deployment, and null when nothing had to be put in place.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['module_installed'],
  request: { params: z.object({ id: ModuleId }), body: Choice.optional() },
  status: 202,
  response: z.object({ message: z.string(), deployment: DeploymentId.nullable() }),
  example: {
    body: { commit: '4ffe5611f0a1d0c8a25c51a2a1f4f2f7a3f0a111', tag: 'v1.2.0' },
    response: { message: 'Module « Bonjour » 1.2.0 installé.', deployment: null },
  },
  errors: [
    'core_module',
    'module_busy',
    ...RELEASE_FAILURES,
    'forge_missing',
    'forge_token_unreadable',
    'deployer_missing',
    'deployment_busy',
    'modules_folder_unusable',
  ],

  async handler({ params: { id }, body: choice }, context) {
    const { db, clock, modules, deployer, auditEntry, fail } = context
    const address = await forgeOf(context)
    if (!address) throw fail('forge_missing')
    return modules.change(id, async () => {
      const before = await findModule(db, id)
      if (before?.is_core) throw fail('core_module')
      const { descriptor, commit, tag, repository, files } = await readRelease(address, id, choice ?? {}, before)
      await expectUnchanged(db, id, before)
      const record = recordOf(descriptor, { repository, commit, ...(tag !== undefined && { tag }) })
      const { name, version } = record
      const saved = saveModule(record, timestamp(clock()))
      const details = { version, repository, commit, ...(tag !== undefined && { tag }) }
      const announce = auditEntry('module_installed', { target: id, details })
      if (namesOf(record).length === 0 && (!before || namesOf(before).length === 0)) {
        await db.batch([saved, announce])
        return { message: `Module « ${name} » ${version} installé.`, deployment: null }
      }
      const hasCode = record.backend !== null || (before?.backend ?? null) !== null
      const deployment = await deployer.begin({
        module: id,
        before,
        files: { all: new Map([['module.json', Buffer.from(JSON.stringify(descriptor))], ...files]), commit },
        record: [saved],
        announce,
        // A module that stays disabled has its trial start when it is enabled.
        restart: hasCode && before?.is_enabled !== 0,
      })
      return { message: `Installation du module « ${name} » ${version} commencée.`, deployment }
    })
  },
})
