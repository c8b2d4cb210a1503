import * as z from 'zod'
import { type Child, startChild } from './child.ts'
import { startJob } from './follow.ts'
import { onHost, ROOT, ssh, withLocalFolder } from './host.ts'
import { type Panel, startPanel } from './panel.ts'
import { measure } from './rounds.ts'
import { compare, type Row } from './table.ts'

const ROUNDS = { warmUp: 1, rounds: 5 }
const LINE = `${'Unpacking ops-panel-bench (1.0-1) over (0.9-1) ...'.padEnd(79, '.')}\n`
const LINES = 20_000
/** The bare server writes this many in a few seconds. */
const BARE_WRITES = 200_000
const FILE = '/var/tmp/bench-lines'
const GO = '/var/tmp/bench-go'

/** Reports that it is ready, waits for the start signal, prints the time and then the file. */
const PRINT = 'echo ready; until [ -e "$1" ]; do sleep 0.05; done; date +%s%N >"$1.at"; cat "$2"'
const READY = 'ready\n'

/** Measures a job's lines to many subscribers, against a server that writes each line to each TCP connection. */
export function broadcast(): Promise<Row[]> {
  return withLocalFolder(async () => {
    await ssh(ROOT, `yes '${LINE.trimEnd()}' | head -n ${LINES} >${FILE}`)
    const panel = await startPanel()
    const client = await startChild('./broadcast-client.ts')
    const bare = await startChild('./bare-broadcast.ts')
    try {
      const rows: Row[] = []
      for (const subscribers of [100, 1_000] as const) {
        const rates = await measure(ROUNDS, {
          bare: () => writeEach(bare, client, subscribers),
          ours: () => followJob(panel, client, subscribers),
        })
        rows.push(
          compare(
            `lines to ${subscribers} subscribers / a TCP write each`,
            { atLeast: 4 },
            'M/s',
            rates('ours'),
            rates('bare'),
          ),
        )
      }
      return rows
    } finally {
      await bare.stop()
      await client.stop()
      await panel.stop()
    }
  })
}

/** Returns the millions of lines a second that arrive, from the first write to the last arrival. */
async function writeEach(bare: Child, client: Child, subscribers: number): Promise<number> {
  const port = await bare.ask(z.number(), { what: 'port' })
  const times = BARE_WRITES / subscribers
  await client.ask(z.null(), { what: 'connect', port, subscribers, bytes: times * LINE.length })
  const arrived = client.ask(z.number(), { what: 'await' })
  const began = await bare.ask(z.number(), { what: 'send', message: LINE, times, connections: subscribers })
  return BARE_WRITES / 1000 / ((await arrived) - began)
}

/** Returns the millions of lines a second, from the first line that the host prints to the last final event. */
async function followJob({ url, tokens: [token = ''] }: Panel, client: Child, subscribers: number): Promise<number> {
  const job = await startJob({ url, token, program: 'sh', args: ['-c', PRINT, 'bench', GO, FILE] })
  const bytes = READY.length + LINES * LINE.length
  await client.ask(z.null(), { what: 'subscribe', url, token, job, subscribers, bytes })
  const arrived = client.ask(z.number(), { what: 'await' })
  await onHost('touch', GO)
  const until = await arrived
  const began = Number(await onHost('cat', `${GO}.at`)) / 1e6
  await onHost('rm', GO, `${GO}.at`)
  return (LINES * subscribers) / 1000 / (until - began)
}
