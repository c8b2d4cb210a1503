import { type COMMANDS, startProgram, withData } from './program.ts'
import { measure } from './rounds.ts'
import { compare, type Row } from './table.ts'

const ROUNDS = { warmUp: 2, rounds: 15 }

/** Measures the time from a program's start to its first answer, with existing data, against bare Node's. */
export function start(): Promise<Row[]> {
  return withData(async (folder) => {
    const first = (name: keyof typeof COMMANDS) => async () => {
      const { ms, stop } = await startProgram(name, folder)
      await stop()
      return ms
    }
    const times = await measure(ROUNDS, {
      bare: first('bare'),
      executable: first('executable'),
      file: first('file'),
    })
    return [
      compare('start of the executable / bare Node', { atMost: 3 }, 'ms', times('executable'), times('bare')),
      compare('start of the one file / bare Node', undefined, 'ms', times('file'), times('bare')),
    ]
  })
}
