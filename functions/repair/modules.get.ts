import * as z from 'zod'
import { listModules, type ModuleRow } from '../../db/modules.ts'
import { moduleFiles, type ModuleProblem } from '../../modules/modules.ts'
import { READS } from '../../runtime/function.ts'
import { EXAMPLE_MODULE, Module, moduleView } from '../modules/module.ts'
import { namesOf } from '../registry/installation.ts'
import { namesOnForge, readRegistry } from '../registry/registry.ts'
import { defineFunction } from '../services.ts'

const NOT_ASKED = { registry: undefined, error: null }
const NOT_LOADED = { problem: 'load_failed', detail: 'Son code n’est pas chargé : redémarrez le service.' } as const
const GONE = { problem: 'not_in_registry', detail: 'Son dépôt n’est plus sur la forge.' } as const

/** The service has taken it out, maybe on another instance that shares the database. */
const takenOut = ({ fault }: Pick<ModuleRow, 'fault'>) =>
  fault === null ? undefined : { problem: 'taken_out' as const, detail: fault }

export default defineFunction({
  method: 'GET',
  path: '/api/repair/modules',
  summary: 'The problems of modules',
  description:
    'Lists the modules that are not the panel’s own, each with its problem. It does not wait for the forge: `not_in_registry` is by the last list. The service has taken out a module with the problem `taken_out`, because it blocked or ended the service; enabling it tries it again.',
  auth: 'admin',
  rateLimit: READS,
  response: z.array(
    Module.extend({
      problem: z.enum(['files_missing', 'load_failed', 'taken_out', 'not_in_registry']).nullable(),
      detail: z.string().nullable(),
    }),
  ),
  example: {
    response: [{ ...EXAMPLE_MODULE, problem: 'not_in_registry', detail: GONE.detail }],
  },

  async handler(_, context) {
    const { db, config, boot, modules } = context
    const rows = (await listModules(db)).filter(({ is_core }) => is_core === 0)
    // Only a forge that was read can show that a module is missing.
    const { registry, error } = rows.length > 0 ? await readRegistry(context, {}) : NOT_ASKED
    const there = error === null && registry ? namesOnForge(registry) : undefined
    const faults = await Promise.all(rows.map((row) => filesFault(config.modulesDir, row)))
    return rows.map((row, n) => {
      const unloaded = row.is_enabled && row.backend !== null && !modules.isLoaded(row)
      const broken = unloaded ? (modules.problem(row.id) ?? NOT_LOADED) : undefined
      const gone = row.repository !== null && there !== undefined && !there.has(row.id)
      const fault = faults[n]
      const other = fault?.isOther ? fault.problem : undefined
      const problem =
        takenOut(row) ?? other ?? broken ?? fault?.problem ?? (gone ? GONE : { problem: null, detail: null })
      return { ...moduleView(row, boot.version), ...problem }
    })
  },
})

/** The problem of the files in place: one is missing, or they come from another commit than the one on record. */
async function filesFault(
  folder: string,
  row: ModuleRow,
): Promise<{ problem: ModuleProblem; isOther: boolean } | undefined> {
  const fault = await moduleFiles(folder, row.id).fault({ names: namesOf(row), commit: row.commit })
  if (!fault) return undefined
  const detail =
    'other' in fault
      ? `Ses fichiers sont ceux du commit ${fault.other}, pas ceux du commit ${row.commit} enregistré.`
      : `${fault.missing} n’existe pas dans le dossier du module`
  return { problem: { problem: 'files_missing', detail }, isOther: 'other' in fault }
}
