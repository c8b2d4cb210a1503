import { DIFFERS_END, DIFFERS_MARK, RUN_CODES } from '../functions/managers/agreement.ts'
import { printInstead } from './apt.ts'
import { diskLines } from './disk.ts'
import { unfinishedLines } from './inspection.ts'
import { hasApt, type Place, programOf } from './place.ts'
import { actionLines, type Choice, chosen, choiceOf, hashOf, type Plan, wantedLines } from './plan.ts'
import { fail, type Program, type Transaction } from './process.ts'
import { publish } from './repositories.ts'
import { type Shell, wordsOf } from './sh.ts'
import { installedLine, offeredLine, simulation } from './simulation.ts'

/** The exit code for a selection that cannot be read: EX_USAGE. */
const MISUSED = 64

/**
 * Imitates `PLAN`, which simulates a selection, `COMPARE`, which looks at changed configuration files, and `PLANNED`,
 * which makes exactly the planned changes or none.
 */
export function createPlans({ exitOf }: Shell): { plan: Program; compare: Program; planned: Program } {
  const plan: Program = async (words, process) => {
    const { place } = process
    const choice = choiceOf(words)
    if (!choice) return fail(process, 'not a selection\n', MISUSED)
    await process.stdout(`manager ${programOf(place)}\n`)
    if (!hasApt(place)) return 0
    publish(place)
    await process.stdout('native amd64\n')
    for (const [name, lines] of sectionsOf(place, choice))
      await process.stdout(`${name}\n${lines.map((line) => ` ${line}\n`).join('')}\n`)
    await process.stdout('end\n')
    if (place.newer) place.newer.since ??= Date.now()
    return 0
  }

  const compare: Program = async ([_shown, ...offers], { place, stdout }) => {
    for (const offer of offers) {
      const [name = '', version = ''] = offer.split('=')
      const own = place.upgradable.find((one) => one.name === name.split(':')[0] && one.version === version)
      if (!own?.changedFile) continue
      const { file, diff } = own.changedFile
      const lines =
        Buffer.from(diff)
          .toString('base64')
          .match(/.{1,76}/g) ?? []
      await stdout(`file conflict public text ${name} ${file}\n${lines.map((line) => ` ${line}\n`).join('')}`)
    }
    await stdout('end\n')
    return 0
  }

  const planned: Program = async ([sudo = '', hash = '', files = '', ...words], process) => {
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
    if (!differs) {
      if (code === 0) for (const file of takenFiles(files)) await stdout(takenLine(file))
      return code
    }
    const lines = found ? actionLines(found).map((line) => ` ${line}\n`) : []
    await stdout(`${DIFFERS_MARK}\n${lines.join('')}${DIFFERS_END}\n`)
    return RUN_CODES.differs
  }

  return { plan, compare, planned }
}

/** The files that the word for `PLANNED` names. */
function takenFiles(word: string): string[] {
  return word === '-' ? [] : Buffer.from(word, 'base64').toString().split('\n').filter(Boolean)
}

function takenLine(file: string): string {
  return `ops-panel-plan: ${file} is the new version; the former one is ${file}.dpkg-old.\n`
}

/** The only archive in the cache of a place that has one. */
const CACHED = 'linux-firmware_20230210-5_all.deb'

/** The sections about a plan, in the script's order. */
function sectionsOf(place: Place, choice: Choice): [string, string[]][] {
  const plan = chosen(place, choice)
  const { upgrades, installs, removes } = plan
  const { cached } = place
  return [
    ['wanted', wantedLines(place, choice)],
    ['unfinished', unfinishedLines(place)],
    ['planned', [...simulation(place, plan), place.broken ? 'code 100' : 'code 0']],
    ['offered', [...upgrades, ...installs].map((one) => offeredLine(one, true)).sort()],
    ['installed', [...upgrades, ...removes].map((one) => installedLine(one, true)).sort()],
    ['conffiles', upgrades.flatMap(({ name, changedFile }) => (changedFile ? [`${name} ${changedFile.file}`] : []))],
    ['cached', cached ? [`${CACHED} ${cached}`] : []],
    // The script of a check tells the size of the cache with the free space.
    ['disk', diskLines(place).filter((line) => !line.startsWith('cached '))],
  ]
}
