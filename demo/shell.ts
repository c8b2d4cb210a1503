import type { Run } from './pct.ts'
import type { Process, Program } from './process.ts'
import { splitWords } from './words.ts'

const INTERRUPTED = 130
const CTRL_C = '\x03'
const CTRL_D = '\x04'
const CTRL_L = '\x0c'
const RUB_OUT = ['\x7f', '\b']
const CLEAR = '\x1b[H\x1b[2J'

const WELCOME = `Imitation d’un shell : rien n’est exécuté sur cette machine. « help » dit ce qu’il connaît.
`
/** The sixteen colours of terminals, then a strip of 24-bit colours. */
const COLORS = [
  ...[30, 90].map((first) => Array.from({ length: 8 }, (_, n) => `\x1b[${first + n}m████`).join('')),
  Array.from({ length: 32 }, (_, n) => `\x1b[48;2;${n * 8};${(n * 16) % 256};${255 - n * 8}m `).join(''),
]
  .map((row) => `${row}\x1b[m\n`)
  .join('')
const HELP = `apt, apt-get, clear, colors, date, echo, env, exit [code], help, hostname, id, pct, pwd, stty size, whoami, yes
Ctrl-C interrompt, Ctrl-D termine.
`

/** Imitates an interactive shell in a terminal: echo, a prompt, some commands, Ctrl-C and Ctrl-D. */
export async function interactiveShell(process: Process, run: Run): Promise<number> {
  const { user, place, stdin, stdout } = process
  const prompt = `\x1b[32m${user.name}@${place.name}\x1b[m:~${user.uid === 0 ? '#' : '$'} `
  let line = ''
  let code = 0
  await stdout(`${WELCOME}${prompt}`)

  /** Runs the typed line; later input interrupts it or waits. */
  const enter = async (): Promise<number | undefined> => {
    const words = splitWords(line) ?? []
    line = ''
    if (words[0] === 'exit') return Number(words[1] ?? code) & 255
    const interrupt = new AbortController()
    const ended = new AbortController()
    const signal = AbortSignal.any([process.signal, interrupt.signal])
    const running = runWords(words, { ...process, signal }, run).finally(() => ended.abort())
    const watching = watch(process, ended.signal, () => interrupt.abort())
    code = await running.catch((error: unknown) => {
      if (process.signal.aborted || !interrupt.signal.aborted) throw error
      return INTERRUPTED
    })
    await watching
    await stdout(prompt)
    return undefined
  }

  for (;;) {
    const key = await stdin.readKey()
    if (key === undefined || (key === CTRL_D && line === '')) {
      await stdout('exit\n')
      return code
    }
    if (key === '\r' || key === '\n') {
      await stdout('\n')
      const exit = await enter()
      if (exit !== undefined) return exit
    } else if (key === CTRL_C) {
      line = ''
      await stdout(`^C\n${prompt}`)
    } else if (key === CTRL_L) {
      await stdout(`${CLEAR}${prompt}${line}`)
    } else if (RUB_OUT.includes(key)) {
      if (line !== '') await stdout('\b \b')
      line = [...line].slice(0, -1).join('')
    } else if (key >= ' ') {
      line += key
      await stdout(key)
    }
  }
}

/** Holds typed input back until the program has ended; Ctrl-C interrupts the program and drops that input. */
async function watch({ stdin, stdout }: Process, ended: AbortSignal, interrupt: () => void): Promise<void> {
  let ahead = ''
  for (;;) {
    const key = await stdin.readKey(ended)
    if (key === undefined) return stdin.putBack(ahead)
    if (key !== CTRL_C) {
      ahead += key
      continue
    }
    await stdout('^C\n')
    return interrupt()
  }
}

async function runWords(words: readonly string[], process: Process, run: Run): Promise<number> {
  const [name] = words
  if (name === undefined) return 0
  const own = BUILT_IN.get(name)
  if (own) return own(words.slice(1), process)
  const code = await run(words, process)
  if (code !== undefined) return code
  await process.stderr(`-bash: ${name}: command not found\n`)
  return 127
}

const says =
  (text: (process: Process, words: readonly string[]) => string): Program =>
  async (words, process) => {
    await process.stdout(text(process, words))
    return 0
  }

const BUILT_IN = new Map<string, Program>([
  ['help', says(() => HELP)],
  ['clear', says(() => CLEAR)],
  ['colors', says(() => COLORS)],
  ['echo', says((_, words) => `${words.join(' ')}\n`)],
  ['pwd', says(({ user }) => `${user.uid === 0 ? '/root' : `/home/${user.name}`}\n`)],
  ['whoami', says(({ user }) => `${user.name}\n`)],
  ['hostname', says(({ place }) => `${place.name}\n`)],
  ['yes', yes],
])

async function yes(words: readonly string[], { stdout, signal }: Process): Promise<number> {
  const lines = `${words.length > 0 ? words.join(' ') : 'y'}\n`.repeat(1000)
  for (;;) {
    signal.throwIfAborted()
    await stdout(lines)
    // Ctrl-C must get through between two writes that fit into the window.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** `stty size`, as a program asks for the size of its terminal. */
export const stty: Program = async (args, { terminal, stdout, stderr }) => {
  if (!terminal) return stderr("stty: 'standard input': Inappropriate ioctl for device\n").then(() => 1)
  if (args[0] === 'size') await stdout(`${terminal.rows} ${terminal.cols}\n`)
  return 0
}
