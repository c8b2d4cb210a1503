import { createHash } from 'node:crypto'
import { type Process, type Program, pause } from '../process.ts'
import type { Shell } from '../sh.ts'
import type { Vital } from './vital.ts'
import { look } from './vitals.ts'

/** A look at the health of a container takes so long, in lines of an upgrade's output. */
const TAKES_LINES = 2

/** Imitates `HEALTH <probe>…` in a container: a line for each thing that works or has failed, and for each probe. */
export function createHealth({ heard }: Shell): Program {
  const commanded = async (words: readonly string[], process: Process): Promise<[boolean, string]> => {
    const { code } = await heard(words, process)
    return [code === 0, `exit ${code}`]
  }

  return async (words, process) => {
    const { place, machine, signal, stdout } = process
    await pause(machine.lineMs * TAKES_LINES, signal)
    const vitals = look(place)
    const line = (kind: string, name: string, isGood: boolean, detail: string) =>
      stdout(`${kind}\t${name}\t${isGood ? 'good' : 'bad'}\t${detail}\n`)

    await line('packages', '-', true, digestOf(place.upgradable))
    for (const { kind, name, state, detail } of vitals) await line(kind, name, state === 'good', detail)
    for (const [kind, ...rest] of probesOf(words)) {
      const [isGood, detail] = kind === 'command' ? await commanded(rest, process) : answerOf(kind, rest[0], vitals)
      await line('probe', `${kind} ${rest.join(' ')}`.slice(0, MOST_NAME), isGood, detail)
    }
    await stdout('end\n')
    return 0
  }
}

const MOST_NAME = 200

/** Stands for the database of installed packages, which changes with every upgrade. */
function digestOf(upgradable: readonly { name: string; version: string }[]): string {
  return createHash('sha256')
    .update(upgradable.map(({ name, version }) => `${name} ${version}\n`).join(''))
    .digest('hex')
}

/** Splits the words into probes: `tcp <port>`, `unit <name>` and `command <count> <word>…`. */
function probesOf(words: readonly string[]): [kind: string, ...string[]][] {
  const [kind, first = '', ...rest] = words
  if (kind === undefined) return []
  if (kind !== 'command') return [[kind, first], ...probesOf(rest)]
  const count = Number(first)
  return [[kind, ...rest.slice(0, count)], ...probesOf(rest.slice(count))]
}

/** The answer of a probe of a port or a unit. */
function answerOf(kind: string, name = '', vitals: readonly Vital[]): [boolean, string] {
  if (kind === 'tcp') {
    const isOpen = vitals.some((vital) => vital.kind === 'socket' && vital.name === `tcp/${name}`)
    return isOpen ? [true, 'connected'] : [false, 'refused']
  }
  const found = vitals.find((vital) => vital.kind === 'unit' && vital.name.split('.')[0] === name.split('.')[0])
  if (!found) return [false, 'inactive']
  return found.state === 'good' ? [true, 'active'] : [false, 'failed']
}
