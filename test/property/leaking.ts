import * as z from 'zod'
import { functions, jobKinds, sockets, tasks } from '../../functions/index.ts'
import { defineFunction } from '../../functions/services.ts'
import { startServer } from '../../serve/server.ts'
// The service with three additional functions, each of which leaks a password.

const request = { body: z.object({ password: z.string() }) }
const response = z.object({})

const logs = defineFunction({
  method: 'POST',
  path: '/api/leaking/log',
  summary: 'A probe',
  description: 'Made for a test.',
  auth: 'none',
  rateLimit: false,
  audit: false,
  request,
  response,
  handler({ body }, { log }) {
    // The redaction does not reach this depth.
    log.info({ request: { json: { body } } }, 'planted')
    return {}
  },
})

const audits = defineFunction({
  method: 'POST',
  path: '/api/leaking/audit',
  summary: 'A probe',
  description: 'Made for a test.',
  auth: 'none',
  rateLimit: false,
  audit: ['login_failed'],
  request,
  response,
  async handler({ body: { password } }, { audit }) {
    await audit('login_failed', { details: { error: `not ${Buffer.from(password).toString('base64')}` } })
    return {}
  },
})

const tells = defineFunction({
  method: 'POST',
  path: '/api/leaking/error',
  summary: 'A probe',
  description: 'Made for a test.',
  auth: 'none',
  rateLimit: false,
  audit: false,
  request,
  response,
  errors: ['target_invalid'],
  handler({ body: { password } }, { fail }) {
    throw fail('target_invalid', { values: { target: password } })
  },
})

const { stop } = await startServer(process.env, {
  functions: [...functions, logs, audits, tells],
  sockets,
  jobKinds,
  tasks,
})
process.once('SIGTERM', () => void stop().then(() => process.exit(0)))
