import * as z from 'zod'
import { PANEL_FOLDER } from '../../platform/asset-files.ts'
import { AssetAnswer } from '../../runtime/asset.ts'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/panel/:file',
  isEnabled: ({ servesPanel }) => servesPanel,
  document: false,
  summary: 'A file of the panel',
  description:
    'Returns a script, style or picture. Browsers may cache it for ever, because its name changes with its content.',
  auth: 'none',
  rateLimit: { limit: 600, seconds: 60, by: 'address' },
  request: { params: z.object({ file: z.string() }) },
  response: z.string(),
  contentType: 'text/*',
  errors: ['not_found'],

  handler: ({ params: { file } }) => new AssetAnswer(`${PANEL_FOLDER}/${file}`, { as: 'named' }),
})
