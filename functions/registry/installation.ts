import { filesOf, type NewModule } from '../../db/modules.ts'
import type { Descriptor } from './descriptor.ts'

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
