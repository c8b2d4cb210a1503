import { setTimeout as pause } from 'node:timers/promises'
import { memory, privateMemory } from './memory.ts'
import { type COMMANDS, startProgram, withData } from './program.ts'
import { compare, type Row } from './table.ts'

const ROUNDS = 5
const ANSWERS = 20
/** V8 collects an idle heap within this time. */
const SETTLED_MS = 5_000

/** Measures the memory of the shipped programs, idle after their first answers, against bare Node's. */
export function idle(): Promise<Row[]> {
  return withData(async (folder) => {
    const held = { bare: series(), executable: series(), file: series() }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const name of ['bare', 'executable', 'file'] as const) {
        const { own, resident } = await atRest(name, folder)
        held[name].own.push(own)
        held[name].resident.push(resident)
      }
    }
    const { bare, executable, file } = held
    return [
      compare('private memory of the executable / bare Node', undefined, 'MiB', executable.own, bare.own),
      compare('resident memory of the executable / bare Node', undefined, 'MiB', executable.resident, bare.resident),
      compare('private memory of the one file / bare Node', undefined, 'MiB', file.own, bare.own),
      compare('resident memory of the one file / bare Node', undefined, 'MiB', file.resident, bare.resident),
    ]
  })
}

function series(): { own: number[]; resident: number[] } {
  return { own: [], resident: [] }
}

async function atRest(name: keyof typeof COMMANDS, folder: string): Promise<{ own: number; resident: number }> {
  const program = await startProgram(name, folder)
  try {
    for (let n = 0; n < ANSWERS; n += 1) await program.ask()
    await pause(SETTLED_MS)
    return { own: await privateMemory(program.pid), resident: (await memory(program.pid)).now }
  } finally {
    await program.stop()
  }
}
