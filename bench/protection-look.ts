import * as z from 'zod'
import { inContainer } from '../functions/hypervisor/pct.ts'
import { HEALTH } from '../functions/protection/health-script.ts'
import { quote, script } from '../ssh/ssh.ts'
import { startChild } from './child.ts'
import { rig, ROOT, SSH_PORT } from './host.ts'
import { measure } from './rounds.ts'
import { compare, median, type Row, short } from './table.ts'

const CONTAINER = '101'
const UNITS = 60
/** So many of the units listen on a port each. */
const SOCKETS = 30
/** The units that `rig.sh units` makes, which listen too. */
const MADE = 2
/** The hypervisor's tool takes a second to load its modules; the one of the rig waits as long where it is told to. */
const TOOL_MS = 1_000

const ROUNDS = { warmUp: 2, rounds: 15 }

/**
 * Measures one look at a container with many units and ports, over a connection that is there: against an empty command
 * in the container, and with the time that the hypervisor's own tool takes.
 */
export async function protectionLook(): Promise<Row[]> {
  const bare = await startChild('./bare-ssh.ts')
  const run = (command: string) =>
    bare.ask(z.object({ ms: z.number(), stdout: z.string() }), { what: 'run', port: SSH_PORT, ...ROOT, command })
  const [empty, command] = [['true'] as const, script(HEALTH, 'ops-panel-health')].map((each) =>
    quote(inContainer(CONTAINER, each)),
  )
  if (!empty || !command) throw new Error('no command')
  const look = async () => {
    const { ms, stdout } = await run(command)
    complete(stdout)
    return ms
  }
  try {
    await rig('units', CONTAINER, 'on')
    await rig('in', CONTAINER, 'sh', '-ec', MORE)
    const times = await measure(ROUNDS, { look, empty: async () => (await run(empty)).ms })
    await rig('pct-delay', String(TOOL_MS))
    const slow = await measure({ ...ROUNDS, rounds: 5 }, { look })
    const middle = median(slow('look'))
    return [
      compare('a look at 60 units and 30 ports / pct exec true', undefined, 'ms', times('look'), times('empty')),
      {
        name: 'a look at 60 units and 30 ports, with a second for pct',
        goal: { atMost: 2_000 },
        ours: `${short(middle)} ms`,
        anchor: '',
        result: middle,
        unit: 'ms',
        rounds: slow('look').length,
      },
    ]
  } finally {
    await rig('pct-delay', '0')
    await rig('reset', CONTAINER)
    await bare.stop()
  }
}

/** Throws unless the look is whole and has all units and ports. */
function complete(text: string): void {
  const count = (kind: string) => text.match(new RegExp(`^${kind}\t.*\tgood\t`, 'gm'))?.length ?? 0
  const [units, sockets] = [count('unit'), count('socket')]
  if (!text.endsWith('\nend\n') || units < UNITS || sockets < SOCKETS)
    throw new Error(`a look with ${units} units and ${sockets} ports: ${text.slice(-200)}`)
}

/** Adds the other units, in the container. */
const MORE = `
for n in $(seq ${UNITS - MADE}); do
  command='/usr/bin/sleep infinity'
  [ "$n" -gt ${SOCKETS - MADE} ] || command="/usr/local/sbin/rig-listener $((7900 + n))"
  printf '%s\\n' '[Unit]' "Description=Unit $n of the benchmark" '[Service]' "ExecStart=$command" \\
    '[Install]' 'WantedBy=multi-user.target' >"/etc/systemd/system/rig-bench-$n.service"
  systemctl start "rig-bench-$n"
done
`
