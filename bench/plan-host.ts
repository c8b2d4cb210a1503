import * as z from 'zod'
import { planCommand, type Selection } from '../functions/plans/plan-command.ts'
import { quote } from '../ssh/ssh.ts'
import { type Child, startChild } from './child.ts'
import { ROOT, SSH_PORT } from './host.ts'
import { nameOf, offerOneThatCannotBeInstalled, UPGRADABLE, withManyPackages } from './many-packages.ts'
import { type Panel, startPanel } from './panel.ts'
import { measure } from './rounds.ts'
import { compare, type Row } from './table.ts'

const ROUNDS = { warmUp: 1, rounds: 7 }
/** The simulation of a plan: all that can be upgraded, installed and removed. */
const BARE = 'LC_ALL=C apt-get -s -o Debug::NoLocking=1 full-upgrade'
const GOAL = { atMost: 2 }

/** A selection with the least and the most changes of its plan. */
interface Case {
  selection: Selection
  changes: [least: number, most: number]
}

const EVERYTHING: Selection = { only: 'all', packages: null, exclude: [], allow_remove: false }
const ALL: Case = { selection: EVERYTHING, changes: [UPGRADABLE, UPGRADABLE * 1.1] }
const SECURITY: Case = { selection: { ...EVERYTHING, only: 'security' }, changes: [UPGRADABLE / 3, UPGRADABLE / 2] }
const ONE: Case = { selection: { ...EVERYTHING, packages: [nameOf(700)] }, changes: [1, 20] }
const OTHERS: Case = {
  selection: { ...EVERYTHING, exclude: [nameOf(700)] },
  changes: [UPGRADABLE - 50, UPGRADABLE * 1.1 - 1],
}
/** Nothing that is left out may be removed either. */
const OTHERS_REMOVING: Case = { ...OTHERS, selection: { ...OTHERS.selection, allow_remove: true } }

/**
 * Measures plans of the real host with 1,500 upgradable packages, against apt's own simulation of all: the program on
 * the host over a connection that is there, and the request to the service until its answer.
 */
export function planHost(): Promise<Row[]> {
  return withManyPackages(async () => {
    const panel = await startPanel()
    const bare = await startChild('./bare-ssh.ts')
    try {
      const [script, api] = [scripts(bare), requests(panel)]
      const apt = async () => (await run(bare, BARE)).ms
      const times = await measure(ROUNDS, {
        apt,
        allScript: () => script(ALL),
        all: () => api(ALL),
        securityScript: () => script(SECURITY),
        security: () => api(SECURITY),
        oneScript: () => script(ONE),
        one: () => api(ONE),
        othersScript: () => script(OTHERS),
        others: () => api(OTHERS),
        othersRemoving: () => api(OTHERS_REMOVING),
      })
      const row = (name: Row['name'], of: Parameters<typeof times>[0]) =>
        compare(name, GOAL, 'ms', times(of), times('apt'))
      const rows = [
        row('a plan of 1500 packages, on the host / apt-get -s full-upgrade', 'allScript'),
        row('a plan of 1500 packages / apt-get -s full-upgrade', 'all'),
        row('a plan of their security updates, on the host / apt-get -s full-upgrade', 'securityScript'),
        row('a plan of their security updates / apt-get -s full-upgrade', 'security'),
        row('a plan of one of them, on the host / apt-get -s full-upgrade', 'oneScript'),
        row('a plan of one of them / apt-get -s full-upgrade', 'one'),
        row('a plan of all but one, on the host / apt-get -s full-upgrade', 'othersScript'),
        row('a plan of all but one / apt-get -s full-upgrade', 'others'),
        row('a plan of all but one, with removals / apt-get -s full-upgrade', 'othersRemoving'),
      ]
      await offerOneThatCannotBeInstalled()
      const unmet = await measure({ warmUp: 1, rounds: 5 }, { apt, security: () => api(SECURITY) })
      const name = 'a plan of security updates, one of which cannot be installed / apt-get -s full-upgrade'
      return [...rows, compare(name, GOAL, 'ms', unmet('security'), unmet('apt'))]
    } finally {
      await bare.stop()
      await panel.stop()
    }
  })
}

const Ran = z.object({ ms: z.number(), stdout: z.string() })

function run(bare: Child, command: string): Promise<z.infer<typeof Ran>> {
  return bare.ask(Ran, { what: 'run', port: SSH_PORT, ...ROOT, command })
}

/** Runs the program of a plan on the host; returns its milliseconds. */
function scripts(bare: Child) {
  return async ({ selection, changes }: Case): Promise<number> => {
    const { ms, stdout } = await run(bare, quote(planCommand('host', selection, 'root')))
    within(changes, stdout.match(/^ Inst /gm)?.length ?? 0)
    return ms
  }
}

const Plan = z.object({ actions: z.array(z.unknown()) })

/** Asks the service for a plan; returns the milliseconds. */
function requests({ url, tokens: [token = ''] }: Panel) {
  return async ({ selection: { packages, ...rest }, changes }: Case): Promise<number> => {
    const began = performance.now()
    const response = await fetch(`${url}/api/updates/plans`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ target: 'host', ...rest, ...(packages && { packages }) }),
    })
    const answer = await response.text()
    const ms = performance.now() - began
    if (response.status !== 201) throw new Error(`the plan was refused: ${answer}`)
    within(changes, Plan.parse(JSON.parse(answer)).actions.length)
    return ms
  }
}

function within([least, most]: Case['changes'], changes: number): void {
  if (changes < least || changes > most) throw new Error(`${changes} changes instead of ${least} to ${most}`)
}
