import * as z from 'zod'
import { defineFunction, READS } from '../../runtime/function.ts'

/** The settings; of a secret only whether there is one. */
export default defineFunction({
  method: 'GET',
  path: '/api/settings',
  auth: 'admin',
  rateLimit: READS,
  response: z.object({
    ssh_host: z.string(),
    ssh_username: z.string(),
    ssh_password_set: z.boolean(),
    ssh_host_key: z.string(),
    hypervisor_url: z.string(),
    hypervisor_token_set: z.boolean(),
    hypervisor_fingerprint: z.string(),
    dashboard_shortcuts: z.string(),
  }),

  handler: (_, { settings }) => settings.show(),
})
