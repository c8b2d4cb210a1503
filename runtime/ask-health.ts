import { request as requestInClear } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import type { Config } from './config.ts'

/** A service that is well answers at once. */
const ANSWER_MS = 5_000

/** What the service that runs beside this program answers to `/api/health`. Rejects when it does not. */
export function askHealth({ host, port, tls }: Config): Promise<string> {
  // Who listens everywhere listens here too.
  const everywhere = host === '0.0.0.0' || host === '::'
  return new Promise((resolve, reject) => {
    const address = {
      host: everywhere ? 'localhost' : host,
      port,
      path: '/api/health',
      signal: AbortSignal.timeout(ANSWER_MS),
    }
    // Its certificate is for the name that clients use.
    const asked = tls ? request({ ...address, rejectUnauthorized: false }) : requestInClear(address)
    asked.on('error', reject)
    asked.on('response', (response) => void text(response).then(resolve, reject))
    asked.end()
  })
}
