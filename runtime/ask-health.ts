import { request as requestInClear } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import type { Config } from './config.ts'

/** A service that is well answers at once. */
const ANSWER_MS = 5_000

/** Who listens everywhere listens here too. By number: a container may have no names. */
const EVERYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** What the service that runs beside this program answers to `/api/health`. Rejects when it does not. */
export function askHealth({ host, port, tls }: Config): Promise<{ ok: boolean; text: string }> {
  return new Promise((resolve, reject) => {
    const address = {
      host: EVERYWHERE[host] ?? host,
      port,
      path: '/api/health',
      signal: AbortSignal.timeout(ANSWER_MS),
    }
    // Its certificate is for the name that clients use.
    const asked = tls ? request({ ...address, rejectUnauthorized: false }) : requestInClear(address)
    asked.on('error', reject)
    asked.on('response', (response) => {
      const ok = response.statusCode === 200
      text(response).then((said) => resolve({ ok, text: said }), reject)
    })
    asked.end()
  })
}
