/** Messages between the windows of one browser, which share one session. They contain no secrets. */
export type WindowMessage = { what: 'signedOut' } | { what: 'confirmed' } | { what: 'signedIn'; username: string }

const channel = opened()

/** Some browsers forbid it on some sites. */
function opened(): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel('ops-panel')
  } catch {
    return undefined
  }
}

export function notifyWindows(message: WindowMessage): void {
  channel?.postMessage(message)
}

export function onWindowMessage(listener: (message: WindowMessage) => void): void {
  channel?.addEventListener('message', ({ data }) => listener(data))
}
