import { sockets } from '../functions/index.ts'
import { closesOf } from '../openapi/asyncapi.ts'

/** Nobody sends these: without a code, and cut off. */
const UNSENT = [1005, 1006]

/** The service's own socket at an address; undefined for one that a test has made. */
function socketAt(address: string) {
  const [path = ''] = address.split('?')
  return sockets.find((socket) => new RegExp(`^${socket.path.replace(/:\w+/g, '[^/]+')}$`).test(path))
}

/** Throws for a text frame that the socket at this address does not declare. */
export function checkFrame(address: string, text: string): void {
  const socket = socketAt(address)
  if (!socket) return
  const frame: unknown = JSON.parse(text)
  // What a schema does not name is cut off by it.
  const known = Object.values(socket.sends).some(({ schema }) => JSON.stringify(schema?.safeParse(frame).data) === text)
  if (!known) throw new Error(`${socket.path} does not declare ${text}`)
}

/** Throws for a code that the socket at this address does not say it closes with. */
export function checkClose(address: string, code: number): void {
  const socket = socketAt(address)
  if (!socket || UNSENT.includes(code)) return
  if (!closesOf(socket).some((each) => each.code === code)) throw new Error(`${socket.path} does not declare ${code}`)
}
