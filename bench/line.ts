import * as z from 'zod'
import { startChild } from './child.ts'
import type { RowName } from './explanations.ts'
import { ROOT, SSH_PORT, withLocalFolder } from './host.ts'
import { startPanel } from './panel.ts'
import { compare, type Goal, median, type Row } from './table.ts'

const WARM_UP = 1
const ROUNDS = 5
const LINES = 40

const Times = z.array(z.number())

/** Measures the time of a line from the host to a subscriber, against the round trip of an ssh2 channel. */
export async function line(): Promise<Row[]> {
  return [
    await withLocalFolder(() => measureLines('a line / ssh2 round trip', { atMost: 5 })),
    await measureLines('a line on an overlay file system / ssh2 round trip', undefined),
  ]
}

async function measureLines(name: RowName, goal: Goal | undefined): Promise<Row> {
  const panel = await startPanel()
  const client = await startChild('./line-client.ts')
  const bare = await startChild('./bare-ssh.ts')
  try {
    const [token = ''] = panel.tokens
    const ours: number[] = []
    const trips: number[] = []
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      // Irregular, so that no component that works at intervals can keep in step.
      const pausesMs = Array.from({ length: LINES }, () => 20 + Math.random() * 40)
      const args = ['-c', WRITE_MOMENTS, 'bench', ...pausesMs.map((ms) => (ms / 1000).toFixed(4))]
      const ages = await client.ask(Times, { url: panel.url, token, program: 'sh', args })
      const echoes = await bare.ask(Times, { what: 'echo', port: SSH_PORT, ...ROOT, pausesMs })
      if (ages.length !== LINES) throw new Error(`${ages.length} lines arrived instead of ${LINES}`)
      if (round < 0) continue
      ours.push(median(ages))
      trips.push(median(echoes))
    }
    return compare(name, goal, 'ms', ours, trips)
  } finally {
    await bare.stop()
    await client.stop()
    await panel.stop()
  }
}

const WRITE_MOMENTS = 'for pause; do sleep "$pause"; date +%s%N; done'
