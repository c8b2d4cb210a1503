import * as z from 'zod'
import { startChild } from './child.ts'
import { ROOT, ssh, withLocalFolder } from './host.ts'
import { forgetPeak, memory } from './memory.ts'
import { startPanel } from './panel.ts'
import { measure } from './rounds.ts'
import { compare, type Row, short } from './table.ts'

const MIB = 1024 * 1024
const MEBIBYTES = Number(process.env.BENCH_JOB_MB ?? 50)
const SIZE = MEBIBYTES * MIB
/** Of a gigabyte each takes half a minute. */
const ROUNDS = { warmUp: 1, rounds: MEBIBYTES > 200 ? 3 : 9 }
const LARGE = '/var/tmp/bench-large'
const SMALL = '/var/tmp/bench-1MB'

/** Lines as apt writes them. */
const WRITE_FILES = `
line='Get:%.0f http://mirror.example/debian bookworm/main amd64 ops-panel-bench all 1.0-1 [64.0 kB]'
seq -f "$line" 999999999 | head -c ${SIZE} >${LARGE}
head -c ${MIB} ${LARGE} >${SMALL}
`

const Followed = z.object({ ms: z.number(), size: z.number() })

/** A job that prints so much, to the database and to one subscriber, beside `ssh host cat` of the same file. */
export function job(): Promise<Row[]> {
  return withLocalFolder(async () => {
    await ssh(ROOT, WRITE_FILES)
    const panel = await startPanel()
    const client = await startChild('./job-client.ts')
    const idle = await startChild('./idle-loop.ts')
    try {
      const { child, url, tokens } = panel
      const [token = ''] = tokens
      const run = (file: string) => client.ask(Followed, { url, token, program: 'cat', args: [file] })
      const growths: number[] = []
      const stalls: number[] = []
      const idleStalls: number[] = []

      const large = async () => {
        await child.ask(z.null(), { what: 'collect' })
        const before = await memory(child.pid)
        await forgetPeak(child.pid)
        await child.ask(z.number(), { what: 'stall' })
        await idle.ask(z.number())
        const { ms, size } = await run(LARGE)
        if (size !== SIZE) throw new Error(`${size} bytes of output instead of ${SIZE}`)
        stalls.push(await child.ask(z.number(), { what: 'stall' }))
        idleStalls.push(await idle.ask(z.number()))
        growths.push((await memory(child.pid)).peak - before.now)
        return SIZE / MIB / (ms / 1000)
      }

      for (let n = 0; n < 3; n++) await run(SMALL)
      const rates = await measure(ROUNDS, {
        cat: async () => SIZE / MIB / ((await ssh(ROOT, `cat ${LARGE}`)) / 1000),
        ours: large,
      })
      const stall = Math.max(...stalls)
      const idleStall = Math.max(...idleStalls)
      return [
        compare(`${MEBIBYTES} MiB job / ssh cat`, { atLeast: 0.5 }, 'MiB/s', rates('ours'), rates('cat')),
        {
          name: 'its memory: the largest growth',
          goal: { atMost: 64 },
          ours: '',
          anchor: '',
          result: Math.max(...growths),
          unit: 'MiB',
          rounds: growths.length,
        },
        {
          name: 'its longest stall, less that of an idle loop',
          goal: { atMost: 50 },
          ours: `${short(stall)} ms`,
          anchor: `${short(idleStall)} ms`,
          result: stall - idleStall,
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
