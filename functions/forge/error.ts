/** Why the forge could not be read. The message is a French clause without a capital and without a full stop. */
export class ForgeError extends Error {
  override readonly name = 'ForgeError'
  /**
   * `unreachable`: no usable answer from a forge; `missing`: no such resource; `unreadable`: its content is unusable.
   */
  readonly reason: 'unreachable' | 'missing' | 'unreadable'
  /** Whether the content is unusable because of its size. */
  readonly isTooLarge: boolean

  constructor(reason: ForgeError['reason'], message: string, options: ErrorOptions & { isTooLarge?: boolean } = {}) {
    super(message, options)
    this.reason = reason
    this.isTooLarge = options.isTooLarge ?? false
  }
}

/** The forge showed a certificate that nobody vouches for; nothing was sent to it. */
export class ForgeCertificateError extends ForgeError {
  /** Its problem: a French predicate. */
  readonly problem: string
  /** Its SHA-256; undefined when none was received. */
  readonly fingerprint: string | undefined

  constructor(problem: string, fingerprint: string | undefined) {
    super('unreachable', `son certificat ${problem} : ${fingerprint ?? 'aucun'}`)
    this.problem = problem
    this.fingerprint = fingerprint
  }
}

/** Most scopes that a sentence names. */
const MOST_SCOPES = 4

/**
 * Returns the scopes that a refusal asks for, such as `read:organization`. Gitea writes `required=[…]` and, before 1.25
 * and in Forgejo, `required scope(s): […]`.
 */
export function scopesNamed(text: string): string[] {
  const [, list = ''] = /required(?: scope\(s\): |=)\[([a-z:, ]{1,200})\]/.exec(text) ?? []
  return (list.match(/\b(?:read|write):[a-z]{1,30}\b/g) ?? []).slice(0, MOST_SCOPES)
}
