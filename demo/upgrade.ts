import { PARTLY_REFRESHED } from '../functions/updates/apt.ts'
import { printInstead } from './apt.ts'
import { managedUpgrade } from './managed.ts'
import { managedOf, type Place } from './place.ts'
import type { Process, Program } from './process.ts'
import { faultsOf } from './repositories.ts'
import { type Shell, wordsOf } from './sh.ts'

/** The exit code of an upgrade without the newest lists of every repository. */
const WARNED = 75

/** Imitates `STEPS`, the upgrade of one place, and `UPGRADE`, that of one or several. */
export function createUpgrade({ exitOf }: Shell): { steps: Program; upgrade: Program } {
  const steps: Program = async ([sudo = ''], process) => {
    const { place, machine } = process
    if (machine.upgradeOutput) return printInstead(machine.upgradeOutput, process)
    const manager = managedOf(place)
    if (manager) return managedUpgrade(process, manager)
    const aptGet = [...wordsOf(sudo), 'apt-get']
    // An unfinished dpkg run is completed first.
    place.unfinished = []
    const code = await exitOf([...aptGet, '-o', 'APT::Update::Error-Mode=any', 'update'], process)
    const failed = failedOf(place, code)
    if (code !== 0 && failed === '') return code
    if (failed !== '') await process.stdout(`${PARTLY_REFRESHED}${failed}\n`)
    const ended = await exitOf([...aptGet, '-y', 'full-upgrade'], process)
    if (ended !== 0 || failed === '') return ended
    await process.stdout(`Upgraded, with warnings: these repositories could not be refreshed: ${failed}\n`)
    return WARNED
  }

  const upgrade: Program = async ([text = '', sudo = '', scope = '', ...ids], process) => {
    const inside = (id: string) => {
      const command = ['sh', '-c', text, 'ops-panel-apt', '']
      return exitOf([...wordsOf(sudo), '/usr/sbin/pct', 'exec', id, '--', ...command], process)
    }
    const settled = (code: number) => (code === WARNED ? 0 : code)
    if (scope === 'host') return settled(await exitOf(['sh', '-c', text, 'ops-panel-apt', sudo], process))
    if (scope === 'container') return settled(await inside(ids[0] ?? ''))
    if (scope !== 'all') return 0
    for (const id of ids) {
      await process.stdout(`=== LXC ${id} ===\n`)
      const left = asleep(id, process)
      const code = await inside(id)
      if (code === 0) process.note?.(`${id} done 0`)
      else if (code === WARNED) process.note?.(`${id} warned 0`)
      else {
        await process.stdout(`SKIP LXC ${id}\n`)
        process.note?.(`${id} ${left ?? 'failed'} ${code}`)
      }
    }
    return 0
  }

  return { steps, upgrade }
}

/** Returns the repositories that a refresh has left out, as the script names them; empty when there are none. */
export function failedOf(place: Place, code: number): string {
  const isRefresh = code === 100 && !place.readOnly
  return isRefresh
    ? faultsOf(place)
        .map(({ name }) => name)
        .join(', ')
    : ''
}

/** Returns the reason for which a container does not run; undefined for one that runs or does not exist. */
function asleep(id: string, { machine }: Process): 'template' | 'locked' | 'stopped' | undefined {
  const place = machine.containers.find((each) => each.id === id)
  if (!place || place.running) return undefined
  if (place.template) return 'template'
  return place.lockedFor === undefined ? 'stopped' : 'locked'
}
