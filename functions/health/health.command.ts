import { request as requestInClear } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import type { Config } from '../../platform/config.ts'
import { CommandError, defineCommand } from '../../runtime/command.ts'

/** For monitoring: writes the answer of `/api/health`, and exits with 1 when the service is not healthy. */
export default defineCommand({
  name: 'health',
  summary: 'demander au service en marche s’il va bien (code 0, sinon 1)',
  data: 'none',

  async run(_, { config }) {
    try {
      return await askHealth(config)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new CommandError(`le service ne répond pas (${reason}).`)
    }
  },
})

/** A healthy service answers at once. */
const ANSWER_MS = 5_000

/**
 * A service that listens on every address also listens on the loopback address. The address is numeric because a
 * container may lack name resolution.
 */
const EVERYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Asks the service on this machine for `/api/health`. Rejects when the service does not answer. */
function askHealth({ host, port, tls }: Config): Promise<{ ok: boolean; text: string }> {
  return new Promise((resolve, reject) => {
    const address = {
      host: EVERYWHERE[host] ?? host,
      port,
      path: '/api/health',
      signal: AbortSignal.timeout(ANSWER_MS),
    }
    // The certificate names the host that clients use, not the loopback address.
    const asked = tls ? request({ ...address, rejectUnauthorized: false }) : requestInClear(address)
    asked.on('error', reject)
    asked.on('response', (response) => {
      const ok = response.statusCode === 200
      text(response).then((said) => resolve({ ok, text: said }), reject)
    })
    asked.end()
  })
}
