import { ApiError } from '../../client/index.ts'

/** What people are told of a failure. */
export interface Told {
  sentence: string
  /** What the service said of its cause, in its own words. */
  reason?: string
  requestId?: string
  /** Seconds after which it is worth trying again. */
  retryAfter?: number
}

/** These sentences of the service say more than their code. */
const WITH_REASON =
  /^(answer_too_large|container_locked|deployer_missing|forge_failed|host_answer_too_long|host_check_failed|hypervisor_(certificate|forbidden|node_unknown|refused|unreachable|unreadable)|internal|invalid_descriptor|modules_folder_unusable|proof_impossible|ssh_failed)$/

/** What to say of an error, in the words of `sentences`, by code; `unexpected` of one that has none. */
export function told(error: unknown, sentences: Readonly<Record<string, string>>, unexpected: string): Told {
  if (!(error instanceof ApiError)) return { sentence: unexpected, reason: String(error) }
  const { code, message, requestId, retryAfter } = error
  const sentence = sentences[code]
  return {
    sentence: sentence ?? unexpected,
    ...((!sentence || WITH_REASON.test(code)) && { reason: message }),
    ...(requestId && { requestId }),
    ...(retryAfter && { retryAfter }),
  }
}

/** Whether nothing has answered. */
export function isAway(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'network_failed'
}

/** Whether the service answers, but has no host to ask: nothing can be started there. */
export function isHostAway(error: unknown): boolean {
  return error instanceof ApiError && /^(ssh_|host_key_changed)/.test(error.code)
}

const PASSING = /^(network_failed|unexpected_answer|storage_failed|rate_limited|ssh_failed|hypervisor_unreachable)$/

/** Whether the same question may be answered a little later. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiError && PASSING.test(error.code)
}

/** Whether the host has shown another key than the one that was agreed to: what the service says of a connection that it refused. */
export function isHostKeyChanged(error: unknown): boolean {
  return (
    error instanceof ApiError && (error.code === 'host_key_changed' || /la clé de l’hôte a changé/.test(error.message))
  )
}

/** The message of each rejected field. */
export function fieldErrors(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof ApiError)) return {}
  return Object.fromEntries(error.details.map(({ field, message }) => [field, message]))
}
