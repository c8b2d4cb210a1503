import * as z from 'zod'
import { filesOf, findModule, type ModuleRow } from '../../db/modules.ts'
import { callOf, PageSection, PageWords, pageTicket } from '../../modules/modules.ts'
import { READS } from '../../runtime/function.ts'
import { defineFunction, type Services } from '../services.ts'
import { ModuleId } from './module.ts'
import { callsFor, sectionsFor } from './page-rights.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/module-pages/:id',
  area: 'modules',
  summary: 'The page of a module',
  description:
    'Returns the page that a loaded module declares, with the parts whose endpoints the caller may use. `frame` is the address of the page that the module brings as files, for a sandboxed frame, for half an hour at least; `calls` are the endpoints that this frame may ask the panel to call.',
  auth: 'user',
  targets: 'none',
  rateLimit: READS,
  request: { params: z.object({ id: ModuleId }) },
  response: z.object({
    id: ModuleId,
    name: z.string(),
    title: PageWords.nullable(),
    sections: z.array(PageSection),
    frame: z.string().nullable(),
    calls: z.array(z.string()),
  }),
  example: {
    response: {
      id: 'hello',
      name: 'Bonjour',
      title: { fr: 'Bonjour', en: 'Hello' },
      sections: [
        {
          kind: 'action',
          label: { fr: 'Saluer', en: 'Greet' },
          help: null,
          call: 'POST /api/modules/hello/greetings',
          body: false,
          confirm: null,
          danger: false,
        },
      ],
      frame: null,
      calls: ['POST /api/modules/hello/greetings'],
    },
  },
  errors: ['module_page_missing'],

  async handler({ params: { id } }, { db, modules, secrets, config, clock, user, fail }) {
    const module = await findModule(db, id)
    if (!module || module.is_core || !module.is_enabled || !isRunning(module, modules))
      throw fail('module_page_missing')
    const page = modules.pages.get(id)
    const [document] = config.servesPanel ? filesOf(module) : []
    if (!page && document === undefined) throw fail('module_page_missing')
    const calls = callsFor(module.id, modules.functions, user)
    const names = calls.map(callOf)
    return {
      id,
      name: module.name,
      title: page?.title ?? null,
      sections: sectionsFor(page?.sections ?? [], new Set(names)),
      frame:
        document === undefined
          ? null
          : [
              '/api/module-pages',
              id,
              pageTicket(secrets, module, clock()),
              ...document.split('/').map(encodeURIComponent),
            ].join('/'),
      calls: names,
    }
  },
})

/** Whether the module's code is the one in memory, or it has none. */
function isRunning(module: ModuleRow, modules: Services['modules']): boolean {
  return module.backend === null || modules.isLoaded(module)
}
