import { DIFFERS_END, DIFFERS_MARK, PLAN_DIFFERS } from '../functions/plans/plan-script.ts'
import { printInstead } from './apt.ts'
import { diskLines, unfinishedLines } from './inspection.ts'
import { hasApt, type Place } from './place.ts'
import { actionLines, chosen, choiceOf, hashOf, type Plan } from './plan.ts'
import { fail, type Program, type Transaction } from './process.ts'
import { publish } from './repositories.ts'
import { type Shell, wordsOf } from './sh.ts'
import { installedLine, offeredLine, simulation } from './simulation.ts'

/** The exit code for a selection that cannot be read: EX_USAGE. */
const MISUSED = 64

/** Imitates `PLAN`, which simulates a selection, and `PLANNED`, which makes exactly the planned changes or none. */
export function createPlans({ exitOf }: Shell): { plan: Program; planned: Program } {
  const plan: Program = async (words, process) => {
    const { place } = process
    const choice = choiceOf(words)
    if (!choice) return fail(process, 'not a selection\n', MISUSED)
    await process.stdout(`manager ${hasApt(place) ? 'apt-get' : 'apk'}\n`)
    if (!hasApt(place)) return 0
    publish(place)
    for (const [name, lines] of sectionsOf(place, chosen(place, choice)))
      await process.stdout(`${name}\n${lines.map((line) => ` ${line}\n`).join('')}\n`)
    await process.stdout('end\n')
    if (place.newer) place.newer.since ??= Date.now()
    return 0
  }

  const planned: Program = async ([sudo = '', hash = '', ...words], process) => {
    const { place, machine, stdout } = process
    const choice = choiceOf(words)
    if (!choice || !/^[0-9a-f]{64}$/.test(hash)) return fail(process, 'not a plan\n', MISUSED)
    if (machine.upgradeOutput) return printInstead(machine.upgradeOutput, process)
    publish(place)
    // An unfinished dpkg run is completed first.
    place.unfinished = []
    let found: Plan | undefined
    const transaction: Transaction = {
      choice,
      async agrees(about) {
        found = about
        return hashOf(about) === hash
      },
    }
    const command = [...wordsOf(sudo), 'apt-get', '-y', 'full-upgrade']
    const code = await exitOf(command, { ...process, transaction })
    // Without a change to make, apt asks no hook.
    const differs = found ? hashOf(found) !== hash : code === 0
    if (!differs) return code
    const lines = found ? actionLines(found).map((line) => ` ${line}\n`) : []
    await stdout(`${DIFFERS_MARK}\n${lines.join('')}${DIFFERS_END}\n`)
    return PLAN_DIFFERS
  }

  return { plan, planned }
}

/** The sections about a plan, in the script's order. */
function sectionsOf(place: Place, plan: Plan): [string, string[]][] {
  const { upgrades, installs, removes } = plan
  return [
    ['unfinished', unfinishedLines(place)],
    ['planned', [...simulation(place, plan), place.broken ? 'code 100' : 'code 0']],
    ['offered', [...upgrades, ...installs].map((one) => offeredLine(one, true)).sort()],
    ['installed', [...upgrades, ...removes].map((one) => installedLine(one, true)).sort()],
    ['disk', diskLines(place)],
  ]
}
