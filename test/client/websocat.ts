// Replaces websocat, which Debian 12 does not package, with the options that the example uses.
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { WebSocket } from 'ws'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'no-close': { type: 'boolean', short: 'n' },
    text: { type: 'boolean', short: 't' },
    'buffer-size': { type: 'string', short: 'B', default: '65536' },
    header: { type: 'string', short: 'H', multiple: true, default: [] },
  },
})
const headers = values.header.map((header) => header.replace(/^=/, '').split(/: */, 2))
const [address = ''] = positionals
const socket = new WebSocket(address, { headers: Object.fromEntries(headers) })
socket.on('message', (data) => {
  const text = data.toString()
  if (text.length > Number(values['buffer-size'])) throw new Error('longer than the buffer: websocat would split it')
  process.stdout.write(`${text}\n`)
})
await once(socket, 'close')
