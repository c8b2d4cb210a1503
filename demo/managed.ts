import { createHash } from 'node:crypto'
import { DIFFERS_END, DIFFERS_MARK, RUN_CODES } from '../functions/managers/agreement.ts'
import { printInstead } from './apt.ts'
import { diskLines } from './disk.ts'
import type { Offered, Upgradable } from './packages.ts'
import { type Managed, managedOf, type Place } from './place.ts'
import { type Choice, choiceOf } from './plan.ts'
import { fail, type Process, type Program, pause } from './process.ts'

/** The repositories of an imitated system without apt, and what it calls the architectures. */
const SYSTEMS: Readonly<Record<Managed, { repository: string; address: string; arch: string; all: string }>> = {
  apk: {
    repository: 'https://dl-cdn.alpinelinux.org/alpine/v3.22/main',
    address: 'https://dl-cdn.alpinelinux.org/alpine/v3.22/main',
    arch: 'x86_64',
    all: 'noarch',
  },
  pacman: { repository: 'core', address: 'https://geo.mirror.pkgbuild.com/core/os/x86_64', arch: 'x86_64', all: 'any' },
}

/** One change: a line of the hash, and the fields of a line `change`. */
interface Change {
  action: 'upgrade' | 'install'
  one: Offered
  from: string
}

const changesOf = (upgrades: readonly Upgradable[]): Change[] => [
  ...upgrades.map((one): Change => ({ action: 'upgrade', one, from: one.old })),
  ...upgrades.flatMap(({ brings = [] }) => brings.map((one): Change => ({ action: 'install', one, from: '-' }))),
]

const archOf = (manager: Managed, { arch }: Offered) => SYSTEMS[manager][arch === 'all' ? 'all' : 'arch']

/** Returns what the manager takes of a selection; undefined for one that it cannot make. */
function taken({ upgradable, held = [] }: Place, manager: Managed, { only, kind, names }: Choice) {
  if (only === 'security' || (manager === 'pacman' && kind !== 'every')) return undefined
  const isTaken = ({ name }: Upgradable) => kind === 'every' || names.has(name) === (kind === 'these')
  return upgradable.filter((one) => !held.includes(one.name) && isTaken(one))
}

function hashLines(manager: Managed, changes: readonly Change[]): string[] {
  return changes
    .map(({ action, one, from }) => `${action} ${one.name}:${archOf(manager, one)} ${from} ${one.version}`)
    .sort()
}

/** The lines of `m_changes`, as a check and a plan print them. */
function plannedLines(place: Place, manager: Managed, choice: Choice): string[] {
  const upgrades = taken(place, manager, choice)
  if (!upgrades) return ['unsupported']
  const { repository } = SYSTEMS[manager]
  const lines = changesOf(upgrades).map(({ action, one, from }) => {
    const bytes = Math.round(one.size * 1000)
    const room = action === 'install' ? 4 * bytes : 6 * 1024
    const fields = [action, one.name, archOf(manager, one), from, one.version, repository, 0, bytes, room]
    return ['change', ...fields, one.source ?? one.name].join('|')
  })
  return [...lines, 'code|0']
}

/** The sections of a check of a place without apt, in the script's order. */
export function managedSections(place: Place, manager: Managed): [string, string[]][] {
  const { repository, address } = SYSTEMS[manager]
  const held = (place.held ?? []).map((name) => `hold|${name}`)
  return [
    ['refresh', [`repository|${repository}|${address}`, 'lists|1', 'code|0']],
    ['security', ['database']],
    ['verify', ['code|0']],
    ['planned', plannedLines(place, manager, EVERYTHING)],
    ['left', [...held, 'code|0']],
    ['disk', diskLines(place).filter((line) => !line.startsWith('cached '))],
  ]
}

const EVERYTHING: Choice = { only: 'all', extent: 'new', kind: 'every', names: new Set() }
/** The exit code for a selection that cannot be read: EX_USAGE. */
const MISUSED = 64

/** Imitates `MANAGED_PLAN` with the functions of a manager. */
export const managedPlan: Program = async (words, process) => {
  const { place, stdout } = process
  const choice = choiceOf(words)
  const manager = managedOf(place)
  if (!choice || !manager) return fail(process, 'not a selection\n', MISUSED)
  const sections: [string, string[]][] = [
    ['verify', ['code|0']],
    ['planned', plannedLines(place, manager, choice)],
    ['disk', diskLines(place).filter((line) => !line.startsWith('cached '))],
  ]
  await stdout(`manager ${manager}\n`)
  for (const [name, lines] of sections) await stdout(`${name}\n${lines.map((line) => ` ${line}\n`).join('')}\n`)
  await stdout('end\n')
  return 0
}

/** Imitates `MANAGED_PLANNED` with the functions of a manager. */
export const managedPlanned: Program = async ([_sudo, hash = '', _files, ...words], process) => {
  const { place, machine, stdout } = process
  const choice = choiceOf(words)
  const manager = managedOf(place)
  if (!choice || !manager) return fail(process, 'not a plan\n', MISUSED)
  if (machine.upgradeOutput) return printInstead(machine.upgradeOutput, process)
  const upgrades = taken(place, manager, choice) ?? []
  const lines = hashLines(manager, changesOf(upgrades))
  const sum = createHash('sha256').update(lines.map((line) => `${line}\n`).join(''))
  if (sum.digest('hex') !== hash) {
    await stdout(`\n${DIFFERS_MARK}\n${lines.map((line) => ` ${line}\n`).join('')}${DIFFERS_END}\n`)
    return RUN_CODES.differs
  }
  await stdout(`\nops-panel-plan: ${manager} does exactly what was planned.\n`)
  return upgraded(process, manager, upgrades)
}

/** Imitates `managed_upgrade`. */
export async function managedUpgrade(process: Process, manager: Managed): Promise<number> {
  return upgraded(process, manager, taken(process.place, manager, EVERYTHING) ?? [])
}

/** Prints what the manager prints, and makes the changes. */
async function upgraded(process: Process, manager: Managed, upgrades: readonly Upgradable[]): Promise<number> {
  const { place, machine, stdout, signal } = process
  const changes = changesOf(upgrades)
  const [before, line, after] = OUTPUTS[manager](changes.length)
  for (const text of before) await stdout(`${text}\n`)
  for (const [at, change] of changes.entries()) {
    await pause(machine.lineMs, signal)
    await stdout(`${line(change, at + 1)}\n`)
  }
  place.upgradable = place.upgradable.filter((one) => !upgrades.includes(one))
  for (const text of after) await stdout(`${text}\n`)
  return 0
}

type Output = [before: string[], line: (change: Change, at: number) => string, after: string[]]

/** The words of apk 2.14 and of pacman 7. */
const OUTPUTS: Readonly<Record<Managed, (count: number) => Output>> = {
  apk: (count) => [
    [],
    ({ action, one, from }, at) =>
      action === 'install'
        ? `(${at}/${count}) Installing ${one.name} (${one.version})`
        : `(${at}/${count}) Upgrading ${one.name} (${from} -> ${one.version})`,
    ['OK: 214 MiB in 96 packages'],
  ],
  pacman: (count) => [
    count === 0
      ? [':: Starting full system upgrade...', ' there is nothing to do']
      : [':: Starting full system upgrade...', 'resolving dependencies...', 'looking for conflicting packages...'],
    ({ action, one }) => (action === 'install' ? `installing ${one.name}...` : `upgrading ${one.name}...`),
    count === 0 ? [] : [':: Running post-transaction hooks...', '(1/1) Arming ConditionNeedsUpdate...'],
  ],
}
