import type { Run } from './pct.ts'
import { fail, type Process } from './process.ts'

/** The output of a command, both streams in one, and its exit code. */
export interface Heard {
  code: number
  text: string
}

/** The means of the imitated scripts to run programs. */
export interface Shell {
  /** Runs a command; 127 and sh's message when there is no such program. */
  exitOf(words: readonly string[], process: Process): Promise<number>
  /** Runs a command and keeps what it prints. */
  heard(words: readonly string[], process: Process): Promise<Heard>
}

export function createShell(run: Run): Shell {
  const exitOf = async (words: readonly string[], process: Process): Promise<number> => {
    return (await run(words, process)) ?? fail(process, `sh: 1: ${words[0] ?? ''}: not found\n`, 127)
  }
  const heard = async (words: readonly string[], process: Process): Promise<Heard> => {
    let text = ''
    const take = async (data: string | Uint8Array) => {
      text += Buffer.from(data).toString()
    }
    const code = await exitOf(words, { ...process, stdout: take, stderr: take })
    return { code, text }
  }
  return { exitOf, heard }
}

/** Splits the scripts' variable for `sudo -n`: no words, or two. */
export function wordsOf(text: string): string[] {
  return text.split(' ').filter((word) => word !== '')
}
