import * as z from 'zod'
import type { Admission } from './admission.ts'
import type { Services, User } from './context.ts'
import { textFrame } from './frame-kind.ts'
import type { Auth } from './function.ts'
import { EXAMPLE_TOKEN } from './function.ts'
import type { Message, Socket } from './socket.ts'
import { translate } from './translate.ts'

const Renewal = z.object({ type: z.literal('auth'), token: z.string() })

/** One whose token is none is a bad one. */
const Given = Renewal.extend({ token: Renewal.shape.token.catch('') })

/** As of `Admission`, of the address of this socket. */
type Identify = (auth: Auth, token: string) => ReturnType<Admission['identify']>

/** What a client sends to go on with another token. */
export const renewalFrame = textFrame(
  'From now on this token counts, which is the same user’s. There is no answer.',
  Renewal,
  { type: 'auth', token: EXAMPLE_TOKEN },
)

/**
 * Closes a socket when the token that opened it expires or its session ends. The function it returns reads
 * `{"type":"auth","token":"…"}`: from then on the new token counts, which must be the same user's and good enough to open the
 * socket; otherwise it is closed. Undefined for any other message.
 */
export function keepToken(
  socket: Socket,
  first: User,
  auth: Auth,
  { sessions, clock, identify }: Pick<Services, 'sessions' | 'clock'> & { identify: Identify },
): (message: Message) => Promise<void> | undefined {
  const close = () => socket.close('unauthenticated')

  const watch = ({ expires, sid }: User): (() => void) => {
    const timer = setTimeout(close, expires * 1000 - clock().getTime())
    timer.unref()
    const forget = sessions.onEnd(sid, close)
    return () => {
      clearTimeout(timer)
      forget()
    }
  }
  let forget = watch(first)
  if (socket.closed.aborted) forget()
  else socket.closed.addEventListener('abort', () => forget(), { once: true })

  const renew = async (token: string): Promise<void> => {
    const user = await identified(() => identify(auth, token))
    if (socket.closed.aborted) return
    if (user === 'forbidden' || (user && user.id !== first.id)) return socket.close('forbidden')
    if (!user) return close()
    forget()
    forget = watch(user)
    // The new session may have ended meanwhile, too.
    if (socket.closed.aborted) forget()
  }
  return (message) => {
    if (message.binary || !message.text.includes('"auth"')) return undefined
    const { data } = Given.safeParse(parsed(message.text))
    return data && renew(data.token)
  }
}

/** Undefined for nobody; throws what is no answer. */
async function identified(
  identify: () => User | undefined | Promise<User | undefined>,
): Promise<User | 'forbidden' | undefined> {
  try {
    return await identify()
  } catch (error) {
    const { code, status } = translate(error)
    if (status >= 500) throw error
    return code === 'forbidden' ? code : undefined
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
