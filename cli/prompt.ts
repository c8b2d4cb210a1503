import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { ReadStream } from 'node:tty'
import type { Prompt } from '../runtime/command.ts'

/** The input came to its end before an answer. */
export class PromptClosed extends Error {
  override readonly name = 'PromptClosed'
}

/** Questions go to `output`, standard error as a rule, so that what a command prints can be piped on. */
export function createPrompt(
  input: NodeJS.ReadableStream & Partial<Pick<ReadStream, 'isTTY'>>,
  output: Writable,
): Prompt {
  // On a terminal nothing is shown but the answer to a question that may be: what is typed or pasted ahead may be a secret.
  const terminal = input.isTTY === true
  let silent = terminal
  const shown = new Writable({
    write(chunk, _encoding, done) {
      if (!silent) output.write(chunk)
      // At once: what waits here would be shown when it is no longer the time to be silent.
      done()
    },
  })
  const lines: string[] = []
  let waiting: { resolve(line: string): void; reject(error: Error): void } | undefined
  let closed = false
  const reader = createInterface({ input, output: shown, terminal, historySize: 0 })
  reader.on('line', (line) => {
    silent = terminal
    if (waiting) waiting.resolve(line)
    else lines.push(line)
    waiting = undefined
  })
  reader.on('close', () => {
    closed = true
    waiting?.reject(new PromptClosed())
  })
  // Ctrl-C at a question ends it like the end of the input, and between two the whole program.
  reader.on('SIGINT', () => {
    if (waiting) reader.close()
    else process.kill(process.pid, 'SIGINT')
  })

  const next = (): Promise<string> => {
    const line = lines.shift()
    if (line !== undefined) return Promise.resolve(line)
    if (closed) return Promise.reject(new PromptClosed())
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject }
    })
  }

  return {
    interactive: terminal,
    ask(question) {
      // What was typed ahead stays hidden.
      if (!terminal || closed || lines.length > 0)
        output.write(lines.length > 0 && terminal ? `${question}\n` : question)
      else {
        silent = false
        // Readline writes the question again with each change of the line.
        reader.setPrompt(question)
        reader.prompt()
      }
      return next()
    },
    async askSecret(question) {
      if (!closed) reader.setPrompt('')
      output.write(question)
      try {
        return await next()
      } finally {
        if (terminal) output.write('\n')
      }
    },
    say: (text) => void output.write(`${text}\n`),
    startOver(text) {
      lines.length = 0
      output.write(`${text}\n`)
    },
    close: () => reader.close(),
  }
}
