import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { ReadStream } from 'node:tty'
import type { Prompt } from '../runtime/command.ts'

/** The input ended before an answer. */
export class PromptClosed extends Error {
  override readonly name = 'PromptClosed'
}

/** Asks on `output`, usually standard error, so that the result of a command can be piped. */
export function createPrompt(
  input: NodeJS.ReadableStream & Partial<Pick<ReadStream, 'isTTY'>>,
  output: Writable,
): Prompt {
  // A terminal shows only the answer to an `ask`, because text that is typed or pasted ahead may be a secret.
  const terminal = input.isTTY === true
  let silent = terminal
  const shown = new Writable({
    write(chunk, _encoding, done) {
      if (!silent) output.write(chunk)
      // At once, because a chunk that waits here could be shown later, when `silent` is false again.
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
  // Ctrl-C during a question acts like the end of the input; between two questions it ends the program.
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
      // An answer that was typed ahead stays hidden.
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
