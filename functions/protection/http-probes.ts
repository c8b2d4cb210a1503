import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { PROBE_SECONDS, probeName } from './probe-script.ts'
import type { Probe } from './protection.ts'

/** The answer to a probe; `detail` is its HTTP status, or the reason why there is none. */
export interface HttpAnswer {
  name: string
  good: boolean
  detail: string
}

/**
 * Asks the probes of kind `http`, all at once, and returns their answers in their order; other probes are left out.
 * Good is an answer with the wanted status within ten seconds. Redirects are not followed, the body is not read, no
 * proxy is used, and a certificate is not verified: a probe asks whether the address answers. Rejects with the reason
 * of `signal` when it is aborted. Leaves no connection open.
 */
export async function runHttpProbes(
  probes: readonly Probe[],
  signal: AbortSignal,
  { withinMs = PROBE_SECONDS * 1_000 } = {},
): Promise<HttpAnswer[]> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(withinMs)])
  const answers = await Promise.all(
    probes.flatMap((probe) => {
      if (probe.kind !== 'http') return []
      return ask(probe.url, ending).then((answer) => ({
        name: probeName(probe),
        good: answer === probe.status,
        detail: String(answer),
      }))
    }),
  )
  signal.throwIfAborted()
  return answers
}

/** Resolves with the status of the answer, or with a few words that tell why there is none. */
function ask(address: string, signal: AbortSignal): Promise<number | string> {
  return new Promise((resolve) => {
    const url = new URL(address)
    // Agents of their own: the shared ones may use the proxy of the environment, and keep connections open.
    const options = { agent: false, signal, headers: { 'user-agent': 'ops-panel', connection: 'close' } }
    const request =
      url.protocol === 'https:'
        ? requestSecure(url, { ...options, rejectUnauthorized: false })
        : requestPlain(url, options)
    const answered = (status: number | string) => {
      resolve(status)
      request.destroy()
    }
    request.on('response', (response) => {
      response.on('error', () => {})
      answered(response.statusCode ?? 'no status')
    })
    request.on('upgrade', (response, socket) => {
      socket.destroy()
      answered(response.statusCode ?? 'no status')
    })
    request.on('error', (error) => answered(reason(error, signal)))
    request.end()
  })
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENOTFOUND: 'name not found',
  EAI_AGAIN: 'name not found',
  ETIMEDOUT: 'timeout',
}

function reason(error: Error, signal: AbortSignal): string {
  if (signal.aborted) return 'timeout'
  const code = 'code' in error ? String(error.code) : ''
  return REASONS[code] ?? (code.slice(0, 100) || 'no answer')
}
