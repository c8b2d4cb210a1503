import * as z from 'zod'
import { parseJson } from '../platform/untrusted.ts'
import type { Access } from './access.ts'
import type { RuntimeServices, User } from './context.ts'
import { translate } from './errors.ts'
import { EXAMPLE_TOKEN } from './function.ts'
import { type Message, type Socket, textFrame } from './socket.ts'

const Renewal = z.object({ type: z.literal('auth'), token: z.string() })

/** A frame whose token is not a string counts as a frame with an invalid token. */
const Given = Renewal.extend({ token: Renewal.shape.token.catch('') })

/** `Access.authenticate`, bound to the declaration of this socket and to the address of its client. */
type Authenticate = (token: string) => ReturnType<Access['authenticate']>

/** The frame that a client sends to replace the token of its socket. */
export const renewalFrame = textFrame(
  'Replaces the token of the socket by a newer one of the same user. There is no answer.',
  Renewal,
  { type: 'auth', token: EXAMPLE_TOKEN },
)

/** An API token is verified again this often, because other instances may revoke it or its owner may lose rights. */
const AGAIN_MS = 30_000

/**
 * Closes a socket when the token that opened it expires or its session ends. A socket of an API token lives as long as
 * the token satisfies the declaration, without being renewed. Returns a function that handles
 * `{"type":"auth","token":"…"}`: from then on the new token counts. It must belong to the same user and satisfy the
 * declaration; otherwise the socket is closed. The function returns undefined for any other message.
 */
export function superviseToken(
  socket: Socket,
  first: { user: User; token: string | undefined },
  { sessions, clock, authenticate }: Pick<RuntimeServices, 'sessions' | 'clock'> & { authenticate: Authenticate },
): (message: Message) => Promise<void> | undefined {
  const close = () => socket.close('unauthenticated')

  const watch = ({ user, token = '' }: { user: User; token: string | undefined }): (() => void) => {
    const isRenewed = user.credential === 'session'
    const left = user.expires * 1000 - clock().getTime()
    const timer = isRenewed ? setTimeout(close, left) : setTimeout(() => void again(token), Math.min(left, AGAIN_MS))
    timer.unref()
    const forget = sessions.onEnd(user.sid, close)
    return () => {
      clearTimeout(timer)
      forget()
    }
  }

  const renew = async (token: string): Promise<void> => {
    const user = await identified(() => authenticate(token))
    if (socket.closed.aborted) return
    if (user === 'forbidden' || (user && user.id !== first.user.id)) return socket.close('forbidden')
    if (!user) return close()
    forget()
    forget = watch({ user, token })
    // The new session may have ended meanwhile as well.
    if (socket.closed.aborted) forget()
  }
  const again = (token: string): Promise<void> =>
    renew(token).catch((error: unknown) => socket.close('failed', translate(error).code))

  let forget = watch(first)
  if (socket.closed.aborted) forget()
  else socket.closed.addEventListener('abort', () => forget(), { once: true })

  return (message) => {
    if (message.binary || !message.text.includes('"auth"')) return undefined
    const { data } = Given.safeParse(parseJson(message.text))
    return data && renew(data.token)
  }
}

/** Returns undefined when the token is not valid. Throws failures of the service (5xx). */
async function identified(
  identify: () => User | undefined | Promise<User | undefined>,
): Promise<User | 'forbidden' | undefined> {
  try {
    return await identify()
  } catch (error) {
    const { status } = translate(error)
    if (status >= 500) throw error
    return status === 403 ? 'forbidden' : undefined
  }
}
