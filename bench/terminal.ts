import * as z from 'zod'
import { startChild } from './child.ts'
import { ROOT, ssh } from './host.ts'
import { forgetPeak, memory } from './memory.ts'
import { startPanel } from './panel.ts'
import { measure } from './rounds.ts'
import { compare, growth, type Row } from './table.ts'

/** In the unit M of `head -c`. */
const MEBIBYTES = 50
const ROUNDS = 9
/** The terminal does not convert line ends, so the number of bytes stays the same. */
const FLOOD = `stty -opost; yes | head -c ${MEBIBYTES}M`

/** Measures 50 MiB of short lines through a terminal on the host, against `ssh -tt` with the same command. */
export async function terminal(): Promise<Row[]> {
  const panel = await startPanel({ admin: true })
  const client = await startChild('./terminal-client.ts')
  try {
    const { child, url, tokens } = panel
    const [token = ''] = tokens
    const growths: number[] = []

    const ours = async () => {
      await child.ask(z.null(), { what: 'collect' })
      const before = await memory(child.pid)
      await forgetPeak(child.pid)
      const ms = await client.ask(z.number(), { url, token, command: FLOOD, bytes: MEBIBYTES * 1024 * 1024 })
      growths.push((await memory(child.pid)).peak - before.now)
      return MEBIBYTES / (ms / 1000)
    }

    const rates = await measure(
      { warmUp: 1, rounds: ROUNDS },
      { ssh: async () => MEBIBYTES / ((await ssh(ROOT, FLOOD, ['-tt'])) / 1000), ours },
    )
    return [
      compare(`${MEBIBYTES} MiB through a terminal / ssh -tt`, { atLeast: 0.5 }, 'MiB/s', rates('ours'), rates('ssh')),
      growth(`${MEBIBYTES} MiB through a terminal: the largest growth of memory`, growths),
    ]
  } finally {
    await client.stop()
    await panel.stop()
  }
}
