import { ApiError } from '../../client/index.ts'

/** A failure as the panel shows it. */
export interface ErrorDescription {
  sentence: string
  /** The service's own explanation. */
  reason?: string
  requestId?: string
}

/** For these codes, the service's message says more than the code. */
const WITH_REASON =
  /^(answer_too_large|container_locked|deployer_missing|forge_failed|host_(answer_too_long|check_failed)|hypervisor_(certificate|forbidden|node_unknown|refused|unreachable|unreadable)|internal|invalid_descriptor|module(_refused|s_folder_unusable)|oidc_(denied|invalid|unreachable)|other_repository|(proof|rollback)_impossible|source_unavailable|ssh_(failed|key_refused)|sudo_wants_password)$/

/** Describes an error with the sentence of its code; `unexpected` is for unknown codes. */
export function describeError(
  error: unknown,
  sentences: Readonly<Record<string, string>>,
  unexpected: string,
): ErrorDescription {
  if (!(error instanceof ApiError)) return { sentence: unexpected, reason: String(error) }
  const { code, message, requestId } = error
  const sentence = sentences[code]
  return {
    sentence: sentence ?? unexpected,
    ...((!sentence || WITH_REASON.test(code)) && { reason: message }),
    ...(requestId && { requestId }),
  }
}

/** Whether there was no answer at all. */
export function isAway(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'network_failed'
}

/** Whether the service answers but cannot reach the host, so that nothing can start there. */
export function isHostAway(error: unknown): boolean {
  return error instanceof ApiError && /^(ssh_|host_key_changed)/.test(error.code)
}

const TRANSIENT = /^(network_failed|unexpected_answer|storage_failed|rate_limited|ssh_failed|hypervisor_unreachable)$/

/** Whether a retry may succeed a little later. */
export function isTransient(error: unknown): boolean {
  return error instanceof ApiError && TRANSIENT.test(error.code)
}

/** Whether the host presented a different key from the accepted one and the service refused the connection. */
export function isHostKeyChanged(error: unknown): boolean {
  return (
    error instanceof ApiError && (error.code === 'host_key_changed' || /la clé de l’hôte a changé/.test(error.message))
  )
}

/** The messages of the rejected fields, by field. */
export function fieldErrors(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof ApiError)) return {}
  return Object.fromEntries(error.details.map(({ field, message }) => [field, message]))
}
