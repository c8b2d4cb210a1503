const STORAGE_KEY = 'ops-panel.oidc'

/** Keeps what the answer of the provider belongs to, until this window comes back from it. */
export function keepRequest(challenge: string): void {
  sessionStorage.setItem(STORAGE_KEY, challenge)
}

/** Takes it out again; undefined when this window has asked for nothing. */
export function takeRequest(): string | undefined {
  try {
    const challenge = sessionStorage.getItem(STORAGE_KEY) ?? undefined
    sessionStorage.removeItem(STORAGE_KEY)
    return challenge
  } catch {
    return undefined
  }
}
