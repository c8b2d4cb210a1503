import * as z from 'zod'
import { startChild } from './child.ts'
import { ROOT, ssh, withLocalFolder } from './host.ts'
import { forgetPeak, memory } from './memory.ts'
import { startPanel } from './panel.ts'
import { measure } from './rounds.ts'
import { compare, growth, type Row, short } from './table.ts'

const MIB = 1024 * 1024
const LARGE = '/var/tmp/bench-large'
const SMALL = '/var/tmp/bench-1MB'

/** Writes files with lines like apt's. */
const writeFiles = (bytes: number) => `
line='Get:%.0f http://mirror.example/debian bookworm/main amd64 ops-panel-bench all 1.0-1 [64.0 kB]'
seq -f "$line" 999999999 | head -c ${bytes} >${LARGE}
head -c ${MIB} ${LARGE} >${SMALL}
`

interface Size {
  mebibytes: 50 | 1000
  /** Whether a subscriber gets the whole output as frames. */
  watched: boolean
  rounds: number
}

const Stall = z.object({ stall: z.number(), collection: z.number(), database: z.number() })
const Ran = z.object({ ms: z.number(), size: z.number() })

/** Measures a job that prints 50 MiB, to the database and one subscriber, against `ssh host cat` of the same file. */
export function job(): Promise<Row[]> {
  return jobOf({ mebibytes: 50, watched: true, rounds: 9 })
}

/** Measures a job that prints a gigabyte, only to the database, against `ssh host cat` of the same file. */
export function flood(): Promise<Row[]> {
  return jobOf({ mebibytes: 1000, watched: false, rounds: 3 })
}

function jobOf({ mebibytes, watched, rounds }: Size): Promise<Row[]> {
  const bytes = mebibytes * MIB
  return withLocalFolder(async () => {
    await ssh(ROOT, writeFiles(bytes))
    const panel = await startPanel()
    const client = await startChild('./job-client.ts')
    const idle = await startChild('./idle-loop.ts')
    try {
      const { child, url, tokens } = panel
      const [token = ''] = tokens
      const run = (file: string) => client.ask(Ran, { url, token, watched, program: 'cat', args: [file] })
      const growths: number[] = []
      const stalls: z.infer<typeof Stall>[] = []
      const idleStalls: number[] = []

      const large = async () => {
        await child.ask(z.null(), { what: 'collect' })
        const before = await memory(child.pid)
        await forgetPeak(child.pid)
        await child.ask(Stall, { what: 'stall' })
        await idle.ask(z.number())
        const { ms, size } = await run(LARGE)
        if (size !== bytes) throw new Error(`${size} bytes of output instead of ${bytes}`)
        stalls.push(await child.ask(Stall, { what: 'stall' }))
        idleStalls.push(await idle.ask(z.number()))
        growths.push((await memory(child.pid)).peak - before.now)
        return mebibytes / (ms / 1000)
      }

      for (let n = 0; n < 3; n++) await run(SMALL)
      const rates = await measure(
        { warmUp: 1, rounds },
        { cat: async () => mebibytes / ((await ssh(ROOT, `cat ${LARGE}`)) / 1000), ours: large },
      )
      const worst = stalls.toSorted((a, b) => b.stall - a.stall)[0] ?? { stall: 0, collection: 0, database: 0 }
      const idleStall = Math.max(...idleStalls)
      return [
        compare(`${mebibytes} MiB job / ssh cat`, { atLeast: 0.5 }, 'MiB/s', rates('ours'), rates('cat')),
        growth(`${mebibytes} MiB job: the largest growth of memory`, growths),
        {
          name: `${mebibytes} MiB job: the longest stall, less that of an idle loop`,
          goal: { atMost: 50 },
          ours: `${short(worst.stall)} ms (in that round a collection of ${short(worst.collection)}, a call of the database of ${short(worst.database)})`,
          anchor: `${short(idleStall)} ms`,
          result: worst.stall - idleStall,
          unit: 'ms',
          rounds: stalls.length,
        },
      ]
    } finally {
      await idle.stop()
      await client.stop()
      await panel.stop()
    }
  })
}
