import { SecretError, type Secrets } from '../../platform/secrets.ts'
import { pingSecret, RunProgress } from '../../schedules/schedules.ts'
import { isFailure, isLeftOut } from './wave-outcomes.ts'

/** The signals of a dead-man switch: a run has begun, has done all that its schedule says, or has not. */
export type Signal = 'start' | 'success' | 'fail'

/**
 * Returns the signal of a run's state. Any end but `done` is a failure, a cancelled run too: the switch watches that the work
 * is done, and a person who has cancelled it knows better than to trust that it was. A run that went on after a failure, or has
 * left a target out, may be `done`, and its work is not. `waves` is its progress as JSON.
 */
export function signalOf(state: string, waves: string): Signal {
  if (state === 'running') return 'start'
  if (state !== 'done') return 'fail'
  const { data } = RunProgress.safeParse(JSON.parse(waves))
  return data?.waves.every(({ jobs }) => !jobs.some((job) => isFailure(job) || isLeftOut(job))) ? 'success' : 'fail'
}

/** Returns the address of a signal: `/start` or `/fail` below the given one, or that one itself. */
export function addressOf(ping: string, signal: Signal): URL {
  const url = new URL(ping)
  if (signal !== 'success') url.pathname = `${url.pathname.replace(/\/+$/, '')}/${signal}`
  return url
}

/** The connection and the answer together take at most this long. */
const WITHIN_MS = 15_000

/**
 * Sends a signal. Returns a French sentence when it has not arrived, which never contains the address: whoever knows it can
 * send signals. Redirects are not followed.
 */
export async function sendPing(
  { secrets, signal: ending }: { secrets: Secrets; signal?: AbortSignal },
  { schedule, ping, signal }: { schedule: string; ping: string; signal: Signal },
): Promise<string | null> {
  // Imported on first use: undici takes a sixth of the start-up time.
  const { request } = await import('undici')
  const timeout = AbortSignal.timeout(WITHIN_MS)
  try {
    const address = addressOf(secrets.open(pingSecret(schedule), ping), signal)
    const { statusCode, body } = await request(address, {
      method: 'GET',
      headers: { 'user-agent': 'ops-panel' },
      // A connection that stays open would hold up the end of the process.
      reset: true,
      headersTimeout: WITHIN_MS,
      bodyTimeout: WITHIN_MS,
      signal: ending ? AbortSignal.any([timeout, ending]) : timeout,
    })
    // The answer says nothing more, and may be endless.
    body.on('error', () => {}).destroy()
    if (statusCode >= 200 && statusCode < 300) return null
    const isRedirect = statusCode >= 300 && statusCode < 400
    return isRedirect
      ? `L’adresse à signaler redirige (HTTP ${statusCode}) : les redirections ne sont pas suivies.`
      : `L’adresse à signaler a répondu HTTP ${statusCode}.`
  } catch (error) {
    if (error instanceof SecretError)
      return 'L’adresse à signaler ne peut pas être déchiffrée : saisissez-la de nouveau.'
    if (timeout.aborted) return 'L’adresse à signaler n’a pas répondu à temps.'
    return `L’adresse à signaler ne répond pas (${codeOf(error)}).`
  }
}

/** Returns the code only: a message may quote the address. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^[A-Z0-9_]{1,60}$/.test(code) ? code : 'la connexion a échoué'
}
