import { ApiError } from '../../../client/index.ts'
import { frameMessage } from '../../nouns/module-message.ts'
import { callForFrame } from '../../wire/module-page.ts'
import { isUnconfirmed } from '../../wire/panel.ts'
import { moduleWords } from './words.ts'

/** The most calls of a frame at a time. */
const MAX_CALLS = 8
/** The most messages of a frame in a second: many times what a page needs that tells its height at each picture. */
const MAX_MESSAGES = 1_000
/** The most characters of an answer. */
const MAX_ANSWER = 1024 * 1024

interface Bridge {
  /** The endpoints that the service lets this user call. */
  calls: ReadonlySet<string>
  /** The window of the frame, while it is there. */
  frame(): Window | null | undefined
  resize(height: number): void
  /** Called once, when the frame sends more messages than any page needs. None is heard from then on. */
  stop(): void
}

/**
 * Answers the messages of a module's frame until the returned function is called. Only the frame itself is heard, and
 * only with the origin of a sandbox; it reaches only endpoints that its own module declares. A call runs as the user,
 * and asks for a proof where the endpoint takes one.
 */
export function openBridge({ calls, frame, resize, stop }: Bridge): () => void {
  const left = new AbortController()
  let underWay = 0
  const sent = { since: 0, count: 0 }
  /** Whether the user has declined a proof that this frame wanted. */
  let hasDeclined = false
  const listen = (event: MessageEvent) => {
    const source = frame()
    if (!source || event.source !== source || event.origin !== 'null') return
    if (event.timeStamp - sent.since > 1_000) Object.assign(sent, { since: event.timeStamp, count: 0 })
    sent.count += 1
    if (sent.count > MAX_MESSAGES) {
      close()
      return stop()
    }
    const message = frameMessage(event.data)
    if (!message) return
    if ('height' in message) return resize(message.height)
    const { id } = message
    const answer = (told: object) => {
      // A frame without an origin can only be named by `*`; the window is the one that asked.
      if (!left.signal.aborted) frame()?.postMessage({ panel: 1, id, ...told }, '*')
    }
    const refuse = (code: 'invalid' | 'notDeclared' | 'busy' | 'tooLarge' | 'failed') =>
      answer({ error: { code, message: moduleWords().bridge[code] } })
    if ('refused' in message) return refuse('invalid')
    if (!calls.has(message.call) || leavesModule(message.call, message.params)) return refuse('notDeclared')
    if (underWay >= MAX_CALLS) return refuse('busy')
    underWay += 1
    const { call, params, query, body } = message
    let hasAsked = false
    // A click inside of the frame counts for the panel, too.
    const mayAsk = () => {
      hasAsked = !hasDeclined && navigator.userActivation.isActive
      return hasAsked
    }
    void callForFrame(call, { params, query, ...(body !== undefined && { body }), signal: left.signal }, mayAsk)
      .then(
        (data) => (JSON.stringify(data ?? null).length > MAX_ANSWER ? refuse('tooLarge') : answer({ data })),
        (error: unknown) => {
          if (hasAsked && isUnconfirmed(error)) hasDeclined = true
          if (!(error instanceof ApiError)) return refuse('failed')
          return answer({ status: error.status, error: { code: error.code, message: error.message } })
        },
      )
      .finally(() => {
        underWay -= 1
      })
  }
  const close = () => {
    removeEventListener('message', listen)
    left.abort()
  }
  addEventListener('message', listen)
  return close
}

/** Whether parameters would lead to an address that belongs to the panel itself: those that enable and disable a module. */
export function leavesModule(call: string, params: Readonly<Record<string, unknown>> | undefined): boolean {
  const filled = call.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params?.[name])))
  return /^POST \/api\/modules\/[^/]+\/(?:enable|disable)$/.test(filled)
}
