import { isDeepStrictEqual } from 'node:util'
import type { Database } from '../../db/libsql/database.ts'
import { filesOf, findModule, type ModuleRow, type NewModule } from '../../db/modules.ts'
import { FILE_LIMITS, MODULES_ERRORS } from '../../modules/modules.ts'
import { failuresOf } from '../../runtime/errors.ts'
import type { Descriptor } from './descriptor.ts'
import { sizeText } from './forge-requests.ts'

/** Returns the names of a module's files beside its descriptor: its code and the files of its page. */
export function namesOf({ backend, files }: Pick<NewModule, 'backend' | 'files'>): string[] {
  return [...new Set([...(backend === null ? [] : [backend]), ...filesOf({ files })])]
}

/**
 * Returns the record of a module. `origin` is the address of its repository and the commit; undefined for a module from
 * a folder.
 */
export function recordOf(
  { id, name, version, description, has_backend, backend, nav, page }: Descriptor,
  origin: { repository: string; commit: string; tag?: string } | undefined,
): NewModule {
  return {
    id,
    name,
    description: description ?? '',
    version,
    backend: has_backend ? backend : null,
    nav_label: nav?.label ?? null,
    nav_icon: nav?.icon ?? null,
    nav_href: nav?.href ?? null,
    nav_order: nav?.order ?? 100,
    repository: origin?.repository ?? null,
    commit: origin?.commit ?? null,
    tag: origin?.tag ?? null,
    files: JSON.stringify(page?.files ?? []),
  }
}

/** A clause about the files of a page, in French. */
export const PAGE_TOO_LARGE = `les fichiers de la page dépassent ${sizeText(FILE_LIMITS.page)} ensemble`

const failure = failuresOf(MODULES_ERRORS)

/**
 * Throws `module_busy` unless a module's record is still this one: reading a forge takes seconds, and the console and
 * other instances may change the module meanwhile.
 */
export async function expectUnchanged(db: Database, id: string, before: ModuleRow | undefined): Promise<void> {
  if (!isDeepStrictEqual(await findModule(db, id), before)) throw failure('module_busy')
}
