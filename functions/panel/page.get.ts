import * as z from 'zod'
import { ROUTES } from '../../panel/routes.ts'
import { PANEL_PAGE } from '../../platform/asset-files.ts'
import { AssetAnswer } from '../../runtime/asset.ts'
import { defineFunction } from '../services.ts'
import { refusalPage } from './refusal-page.ts'

/** The content security policy of the panel: it uses its own origin only. */
const PANEL_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  // The pages of modules: each in a sandbox, which has no origin.
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

export default defineFunction({
  method: 'GET',
  path: '/',
  alsoAt: ROUTES.map(({ path }) => path).filter((path) => path !== '/'),
  isEnabled: ({ servesPanel }) => servesPanel,
  document: false,
  summary: 'The panel',
  description: 'Returns the same page at every address of the panel. Its script shows the view of the address.',
  auth: 'none',
  rateLimit: { limit: 600, seconds: 60, by: 'address' },
  response: z.string(),
  contentType: 'text/html; charset=utf-8',
  refusalPage,
  isNotFoundPage: true,

  handler(_, { caller, header }) {
    header('content-security-policy', PANEL_POLICY)
    // Over plain HTTP the header only causes a warning on the browser's console.
    if (caller.secure) header('cross-origin-opener-policy', 'same-origin')
    return new AssetAnswer(PANEL_PAGE, { as: 'checked' })
  },
})
