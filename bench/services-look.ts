import * as z from 'zod'
import { inContainer } from '../functions/hypervisor/pct.ts'
import { SERVICES } from '../functions/restarts/services-script.ts'
import { quote, script } from '../ssh/ssh.ts'
import { startChild } from './child.ts'
import { rig, ROOT, SSH_PORT } from './host.ts'
import { measure } from './rounds.ts'
import { median, type Row, short } from './table.ts'

const CONTAINER = '101'
const PROCESSES = 200
/** The units that are processes of their own; the others are programs without one. */
const UNITS = 60
const LIBRARY = '/usr/lib/rig/librigmap.so.1'
/** The goal: the look is a part of every check. */
const MOST_MS = 1_000

const ROUNDS = { warmUp: 2, rounds: 15 }

/** Stands for the function of the inspection that prints a section. */
const SECTION = `export LC_ALL=C; section() { printf '%s\\n' "$1"; sed 's/^/ /'; }`

/**
 * Measures the look for programs whose files were replaced, in a container with 200 processes: none of them uses one, then
 * each does.
 */
export async function servicesLook(): Promise<Row[]> {
  const bare = await startChild('./bare-ssh.ts')
  const command = quote(inContainer(CONTAINER, script(`${SECTION}\n${SERVICES}`, 'ops-panel-services')))
  const look = (expected: number) => async () => {
    const { ms, stdout } = await bare.ask(z.object({ ms: z.number(), stdout: z.string() }), {
      ...{ what: 'run', port: SSH_PORT, ...ROOT, command },
    })
    const lines = stdout.split('\n').filter((line) => line.startsWith(' '))
    const found = lines.length - 1
    if (found !== expected || lines.at(-1) !== ' whole')
      throw new Error(`a look with ${found} services: ${stdout.slice(-200)}`)
    return ms
  }
  const row = (name: Row['name'], times: readonly number[]): Row => {
    const middle = median(times)
    const shown = { ours: `${short(middle)} ms`, anchor: '', result: middle, unit: 'ms' as const }
    return { name, goal: { atMost: MOST_MS }, ...shown, rounds: times.length }
  }
  try {
    await rig('maplib', CONTAINER, 'on')
    await rig('units', CONTAINER, 'on')
    await rig('in', CONTAINER, 'sh', '-ec', MORE)
    const none = await measure(ROUNDS, { look: look(0) })
    await rig('in', CONTAINER, 'sh', '-ec', `cp ${LIBRARY} ${LIBRARY}.new; mv ${LIBRARY}.new ${LIBRARY}`)
    // Programs without a unit have one name.
    const all = await measure(ROUNDS, { look: look(UNITS + 2) })
    return [
      row('a look at 200 processes without replaced files', none('look')),
      row('a look at 200 processes with replaced files', all('look')),
    ]
  } finally {
    await rig('reset', CONTAINER)
    await bare.stop()
  }
}

/** Starts the processes, in the container. Each loads the library, and one unit that `rig.sh units` makes does too. */
const MORE = `
command='/usr/local/sbin/rig-listener 0 ${LIBRARY}'
for n in $(seq ${UNITS}); do
  printf '%s\\n' '[Service]' "ExecStart=$command" >"/etc/systemd/system/rig-bench-$n.service"
  systemctl start "rig-bench-$n"
done
for n in $(seq ${PROCESSES - UNITS - 2}); do setsid $command </dev/null >/dev/null 2>&1 & done
until [ "$(grep -l ${LIBRARY} /proc/[0-9]*/maps 2>/dev/null | wc -l)" -ge ${PROCESSES - 1} ]; do sleep 0.1; done
`
