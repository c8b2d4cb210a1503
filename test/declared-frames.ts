import { sockets } from '../functions/index.ts'
import { closesOf } from '../openapi/asyncapi.ts'

/** Codes that nobody sends: they mean no code, and a lost connection. */
const UNSENT = [1005, 1006]

/** Returns the service's own socket at an address; undefined for a test's own. */
function socketAt(address: string) {
  const [path = ''] = address.split('?')
  return sockets.find((socket) => new RegExp(`^${socket.path.replace(/:\w+/g, '[^/]+')}$`).test(path))
}

/** Throws for a text frame that the socket at this address does not declare. */
export function checkFrame(address: string, text: string): void {
  const socket = socketAt(address)
  if (!socket) return
  const frame: unknown = JSON.parse(text)
  // A schema cuts off undeclared fields.
  const known = Object.values(socket.sends).some(({ schema }) => JSON.stringify(schema?.safeParse(frame).data) === text)
  if (!known) throw new Error(`${socket.path} does not declare ${text}`)
}

/** Throws for a code with which the socket at this address does not declare to close. */
export function checkClose(address: string, code: number): void {
  const socket = socketAt(address)
  if (!socket || UNSENT.includes(code)) return
  if (!closesOf(socket).some((each) => each.code === code)) throw new Error(`${socket.path} does not declare ${code}`)
}
