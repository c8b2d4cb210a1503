import * as z from 'zod'
import { filesOf, findModule } from '../../db/modules.ts'
import { isPageTicket, readPageFile } from '../../modules/modules.ts'
import { CachedJson } from '../../runtime/json-stream.ts'
import { defineFunction } from '../services.ts'
import { ModuleId } from './module.ts'

/**
 * The policy of the frame: an origin of its own, scripts of the module alone, and no requests of its own, since it
 * reaches the module's endpoints through the panel. It applies to a tab that opens the address directly, too.
 */
const FRAME_POLICY = [
  // Scripts see a form's `submit`; `form-action` keeps it from being sent.
  'sandbox allow-scripts allow-forms',
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'none'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ')

const FRAME_HEADERS = {
  'content-security-policy': FRAME_POLICY,
  // The frame has no origin, so its own scripts, styles and fonts come from another one.
  'cross-origin-resource-policy': 'cross-origin',
  'access-control-allow-origin': '*',
  'x-frame-options': 'SAMEORIGIN',
}

/** The bytes of a file as a response. */
class PageFile extends CachedJson {
  override readonly bytes: Uint8Array<ArrayBuffer>

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    super({})
    this.bytes = bytes
  }
}

const PATH = '/api/module-pages/:id/:ticket/:file'
/** The names of deeper folders on the way to a file, in order. */
const DEEPER = ['in2', 'in3', 'in4', 'in5', 'in6', 'in7', 'in8'] as const
const Deeper = z.string().optional()

export default defineFunction({
  method: 'GET',
  path: PATH,
  alsoAt: DEEPER.map((_, at) => [PATH, ...DEEPER.slice(0, at + 1)].join('/:')),
  isEnabled: ({ servesPanel }) => servesPanel,
  document: false,
  summary: 'A file of a module’s page',
  description:
    'Returns a file of the page that a module brings, at the address that its page names. The browser keeps it apart from the panel.',
  auth: 'none',
  rateLimit: { limit: 600, seconds: 60, by: 'address' },
  request: {
    params: z.object({
      id: ModuleId,
      ticket: z.string(),
      file: z.string(),
      in2: Deeper,
      in3: Deeper,
      in4: Deeper,
      in5: Deeper,
      in6: Deeper,
      in7: Deeper,
      in8: Deeper,
    }),
  },
  response: z.string(),
  contentType: 'text/*',
  errors: ['not_found'],

  async handler({ params }, { db, secrets, config, clock, header, fail }) {
    const { id, ticket } = params
    const path = [params.file, ...DEEPER.map((name) => params[name])].filter((part) => part !== undefined).join('/')
    const module = await findModule(db, id)
    if (!module?.is_enabled || !isPageTicket(secrets, module, ticket, clock())) throw fail('not_found')
    if (!filesOf(module).includes(path)) throw fail('not_found')
    const file = await readPageFile(config.modulesDir, id, path)
    if (!file) throw fail('not_found')
    for (const [name, value] of Object.entries(FRAME_HEADERS)) header(name, value)
    header('content-type', file.type)
    return new PageFile(file.bytes)
  },
})
