import * as z from 'zod'
import { findModule, saveModule } from '../../db/modules.ts'
import { DeploymentId } from '../../modules/modules.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { ModuleId } from '../modules/module.ts'
import { defineFunction } from '../services.ts'
import { Commit } from './forge-files.ts'
import { createForge, ForgeError } from './forge.ts'
import { recordOf } from './installation.ts'

/** The service loads no file with more code. */
const MAX_CODE = 5 * 1024 * 1024

export default defineFunction({
  method: 'POST',
  path: '/api/registry/modules/:id/install',
  summary: 'Install a module',
  description:
    'Installs a module from the forge, or replaces an older commit by its newest. With the `commit` that the list has shown, the service installs exactly that commit, or fails with `commit_changed` if there is another one by now. A module without code is usable at once. A module with code needs a restart; `deployment` is the id of the deployment.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['module_installed'],
  request: { params: z.object({ id: ModuleId }), body: z.object({ commit: Commit.optional() }).optional() },
  status: 202,
  response: z.object({ message: z.string(), deployment: DeploymentId.nullable() }),
  example: {
    body: { commit: '4ffe5611f0a1d0c8a25c51a2a1f4f2f7a3f0a111' },
    response: { message: 'Module « Bonjour » 1.2.0 installé.', deployment: null },
  },
  errors: [
    'core_module',
    'module_busy',
    'commit_changed',
    'repository_missing',
    'invalid_descriptor',
    'forge_failed',
    'forge_missing',
    'deployer_missing',
    'deployment_busy',
    'modules_folder_unusable',
  ],

  async handler({ params: { id }, body: wanted }, { db, config, clock, modules, deployer, auditEntry, fail }) {
    if (!config.forge) throw fail('forge_missing')
    const forge = createForge(config.forge)
    return modules.change(id, async () => {
      const before = await findModule(db, id)
      if (before?.is_core) throw fail('core_module')
      const found = await forge.find(id).catch((cause: unknown) => {
        if (!(cause instanceof ForgeError)) throw cause
        const { reason, message } = cause
        if (reason === 'missing') throw fail('repository_missing', { cause })
        if (reason === 'unreadable')
          throw fail('invalid_descriptor', { details: [{ field: 'module.json', message }], cause })
        throw fail('forge_failed', { values: { message }, cause })
      })
      if (wanted?.commit !== undefined && wanted.commit !== found.commit)
        throw fail('commit_changed', { values: { commit: found.commit } })
      if ('reasons' in found) throw fail('invalid_descriptor', { details: found.reasons })
      const { descriptor, commit, repository } = found
      const record = recordOf(descriptor, { repository: repository.htmlUrl, commit })
      const { backend, version } = record
      const saved = saveModule(record, timestamp(clock()))
      const note = { target: id, details: { version, repository: repository.htmlUrl, commit } }
      if (backend === null && (before?.backend ?? null) === null) {
        await db.batch([saved, auditEntry('module_installed', note)])
        return { message: `Module « ${record.name} » ${version} installé.`, deployment: null }
      }
      const files = async () => {
        const all = new Map<string, Buffer>([['module.json', Buffer.from(JSON.stringify(descriptor))]])
        return backend === null ? all : all.set(backend, await forge.file(id, backend, commit, MAX_CODE))
      }
      const deployment = await deployer.begin({
        module: id,
        before,
        files,
        record: [saved],
        announce: auditEntry('module_installed', note),
        // A module that stays disabled has its trial start when it is enabled.
        restart: before?.is_enabled !== 0,
      })
      return { message: `Installation du module « ${record.name} » ${version} commencée.`, deployment }
    })
  },
})
