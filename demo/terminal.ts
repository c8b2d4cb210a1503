import * as z from 'zod'

const Exit = z.object({ type: z.literal('exit'), code: z.number().nullable(), reason: z.string().optional() })

/** Connects this terminal to one that the service opens, until its shell ends; exits with the code of the shell. */
function openTerminal(url: string, target: string, token: string): void {
  const { stdin, stdout } = process
  // Some terminals report a size of 0.
  const size = () => ({ cols: stdout.columns || 80, rows: stdout.rows || 24 })
  const address = new URL('/ws/terminal', url)
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  const { cols, rows } = size()
  address.search = new URLSearchParams({ target, cols: String(cols), rows: String(rows) }).toString()
  const socket = new WebSocket(address, ['panel.v1', `bearer.${token}`])
  socket.binaryType = 'arraybuffer'
  let ended = false
  process.exitCode = 1

  socket.addEventListener('open', () => {
    if (stdin.isTTY) stdin.setRawMode(true)
    stdin.on('data', (bytes: Uint8Array<ArrayBuffer>) => socket.send(bytes))
    stdout.on('resize', () => socket.send(JSON.stringify({ type: 'resize', ...size() })))
  })
  socket.addEventListener('message', ({ data }) => {
    if (data instanceof ArrayBuffer) {
      stdout.write(new Uint8Array(data))
      return
    }
    ended = true
    const { code, reason } = Exit.parse(JSON.parse(String(data)))
    if (reason !== undefined) process.stderr.write(`\r\n${reason}\r\n`)
    process.exitCode = code ?? 1
  })
  socket.addEventListener('close', ({ code, reason }) => {
    if (stdin.isTTY) stdin.setRawMode(false)
    stdin.destroy()
    if (!ended) process.stderr.write(`\nConnexion fermée (${code}${reason === '' ? '' : `, ${reason}`}).\n`)
  })
}

const [url, target, token] = process.argv.slice(2)
if (url && target && token && URL.canParse(url) && /^[\w.-]+$/.test(token)) {
  openTerminal(url, target, token)
} else {
  // After a refused login the argument holds the error message instead of the token.
  process.stderr.write('Usage : npm run --silent demo:terminal -- <adresse> <cible> <jeton>\n')
  process.exitCode = 2
}
