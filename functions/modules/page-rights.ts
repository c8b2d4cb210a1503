import type { PageSection } from '../../modules/modules.ts'
import { expectRights } from '../../runtime/access.ts'
import type { User } from '../../runtime/context.ts'
import { Failure } from '../../runtime/errors.ts'
import type { AnyFunction } from '../../runtime/function.ts'

/** Returns the endpoints of a module that do not refuse the caller whatever the request. */
export function callsFor(id: string, functions: readonly AnyFunction[], user: User): AnyFunction[] {
  return functions.filter((fn) => fn.path.startsWith(`/api/modules/${id}/`) && admits(fn, user))
}

function admits(fn: AnyFunction, user: User): boolean {
  if (fn.auth === 'none' || fn.auth === 'optional') return true
  try {
    expectRights(fn, user)
    return true
  } catch (error) {
    if (error instanceof Failure) return false
    throw error
  }
}

/** Returns the parts of a page that use these endpoints alone; a table leaves out the actions that do not. */
export function sectionsFor(sections: readonly PageSection[], calls: ReadonlySet<string>): PageSection[] {
  return sections.flatMap<PageSection>((section) => {
    if (section.kind === 'text') return [section]
    const reads = 'from' in section && section.from !== null ? calls.has(section.from) : true
    const writes = 'call' in section ? calls.has(section.call) : true
    if (!reads || !writes) return []
    if (section.kind !== 'table') return [section]
    return [{ ...section, actions: section.actions.filter(({ call }) => calls.has(call)) }]
  })
}
