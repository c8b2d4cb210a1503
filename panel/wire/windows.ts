/** What the windows of one browser, which have one session, tell each other. No secret is in it. */
export type Told = { what: 'signedOut' } | { what: 'signedIn'; username: string }

const channel = opened()

/** Not every browser lets every site have one. */
function opened(): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel('ops-panel')
  } catch {
    return undefined
  }
}

export function tellWindows(told: Told): void {
  channel?.postMessage(told)
}

export function onTold(listener: (told: Told) => void): void {
  channel?.addEventListener('message', ({ data }) => listener(data))
}
