import type { Offered } from './packages.ts'
import { hasApt } from './place.ts'
import { amount } from './plan.ts'
import type { Process, Program } from './process.ts'
import { faultsOf } from './repositories.ts'
import { type Shell, wordsOf } from './sh.ts'
import { failedOf } from './upgrade.ts'

type Remedy = 'allow' | 'hold' | 'unhold' | 'clean' | 'manual' | 'repair'

/** Imitates the scripts of the remedies: `ALLOW`, `HOLD`, `UNHOLD`, `CLEAN`, `MANUAL` and `REPAIR`. */
export function createRemedies({ exitOf }: Shell): Record<Remedy, Program> {
  const refresh = (sudo: string, process: Process, more: readonly string[] = []) =>
    exitOf([...wordsOf(sudo), 'apt-get', '-o', 'APT::Update::Error-Mode=any', ...more, 'update'], process)

  const allow: Program = async ([sudo = '', ...approved], process) => {
    const { place, stdout } = process
    const code = await refresh(sudo, process)
    if (code !== 0 && failedOf(place, code) === '') return code
    const changed = faultsOf(place).flatMap(({ isChange, name }) => (isChange ? [name] : []))
    if (changed.length === 0) {
      await stdout('No repository is refused for a change of its name or release.\n')
      return 0
    }
    const foreign = changed.filter((name) => !approved.includes(name) && !approved.includes(name.split(' ')[0] ?? ''))
    if (foreign.length > 0) {
      const sorry = 'These repositories have changed too, and nobody has accepted that:'
      await stdout(`${sorry}\n${foreign.join('\n')}\nNothing was accepted.\n`)
      return 3
    }
    place.changed = undefined
    const again = await refresh(sudo, process, ['--allow-releaseinfo-change'])
    const failed = failedOf(place, again)
    await stdout('The change was accepted.\n')
    if (failed !== '') await stdout(`Other repositories could not be refreshed: ${failed}\n`)
    return 0
  }

  /** Every package counts as installed, except those that an upgrade would bring. */
  const hold: Program = async ([sudo = '', ...asked], process) => {
    const { place, stdout } = process
    const absent = new Set(place.upgradable.flatMap(({ brings = [] }) => brings.map(({ name }) => name)))
    const bare = (name: string) => name.split(':')[0] ?? name
    const missing = asked.filter((name) => absent.has(bare(name)))
    const found = [...new Set(asked.map(bare))].filter((name) => !absent.has(name))
    const names = found.filter((name) => !place.held?.includes(name))
    if (missing.length > 0) await stdout(`Not installed: ${missing.join(' ')} \n`)
    if (names.length === 0) {
      if (found.length > 0) await stdout('These packages are held already.\n')
      return missing.length > 0 ? 1 : 0
    }
    if ((await mayChange(sudo, process)) !== 0) {
      await stdout(`Not held: ${names.join(' ')} \n`)
      return 1
    }
    place.held = [...(place.held ?? []), ...names]
    for (const name of names) await stdout(`${name} set on hold.\n`)
    return missing.length > 0 ? 1 : 0
  }

  const unhold: Program = async ([sudo = '', ...asked], process) => {
    const { place, stdout } = process
    const isAsked = (held: string) => asked.some((name) => name === held || name.split(':')[0] === held)
    const names = (place.held ?? []).filter(isAsked)
    if (names.length === 0) {
      await stdout('None of these packages is held.\n')
      return 0
    }
    const code = await mayChange(sudo, process)
    if (code !== 0) {
      await stdout(`Still held: ${names.join(' ')} \n`)
      return 1
    }
    place.held = place.held?.filter((name) => !isAsked(name)) ?? []
    for (const name of names) await stdout(`Canceled hold on ${name}.\n`)
    return 0
  }

  const clean: Program = async ([sudo = ''], process) => {
    const say = (when: string) =>
      process.stdout(`Free space ${when}: ${((process.place.disk?.free ?? PLENTY) / 2 ** 20).toFixed(1)} MiB\n`)
    await say('before')
    const code = await exitOf([...wordsOf(sudo), 'apt-get', 'clean'], process)
    await say('after')
    return code
  }

  const manual: Program = async ([sudo = ''], process) => {
    const { place, stdout } = process
    if ((await mayChange(sudo, process)) !== 0) {
      await stdout('unattended-upgrades still upgrades by itself.\n')
      return 1
    }
    place.upgraders = place.upgraders?.filter((line) => line !== 'unattended') ?? []
    const file = '/etc/apt/apt.conf.d/99ops-panel-no-auto-upgrades'
    await stdout(`unattended-upgrades no longer upgrades by itself. To undo that, remove ${file}\n`)
    return 0
  }

  const repair: Program = async ([sudo = ''], process) => {
    const { place, stdout } = process
    if ((await mayChange(sudo, process)) === 0) {
      for (const name of place.unfinished ?? []) await stdout(`Setting up ${name} ...\r\n`)
      place.unfinished = []
    }
    await exitOf([...wordsOf(sudo), 'apt-get', '-y', '--no-remove', '-f', 'install'], process)
    const isLeft = (place.unfinished?.length ?? 0) > 0 || place.broken !== undefined
    await stdout(isLeft ? 'Something is still unfinished.\n' : 'Nothing is left unfinished.\n')
    return isLeft ? 1 : 0
  }

  /** 0 when this account may change packages here: as root, or with sudo for apt-get. */
  const mayChange = async (sudo: string, process: Process): Promise<number> => {
    if (process.place.readOnly) return 1
    if (process.user.uid === 0) return 0
    const silent = async () => {}
    if (sudo === '') return 1
    return exitOf([...wordsOf(sudo), 'apt-get', '--version'], { ...process, stdout: silent, stderr: silent })
  }

  return { allow, hold, unhold, clean, manual, repair }
}

const PLENTY = 19 * 2 ** 30

/** Imitates `CHANGELOG`: the changes of an offered version, as the repository tells them. */
export const changelog: Program = async ([name = '', version = ''], { place, stdout }) => {
  if (!hasApt(place)) return MISSING
  const upgrade = place.upgradable.find((one) => one.name === name && one.version === version)
  const brought = place.upgradable.flatMap(({ brings = [] }) => brings)
  const offered = upgrade ?? brought.find((one) => one.name === name && one.version === version)
  // A repository also has the changelogs of packages that are not upgradable; it is not asked which these are.
  if (!hasApt(place) || (!offered && !/^[a-z][a-z0-9.+-]{1,60}$/.test(name))) return MISSING
  const found: Pick<Offered, 'source' | 'suite' | 'size'> = offered ?? { suite: 'stable', size: 100 }
  const { source = name, suite, size } = found
  const isSecurity = suite === 'stable-security'
  const [team, urgency, distribution] = isSecurity
    ? ['Debian Security Team <team@security.debian.org>', 'high', 'bookworm-security']
    : ['Debian Maintainers <debian-devel@lists.debian.org>', 'medium', 'bookworm']
  const changes = isSecurity
    ? ['Fix an out-of-bounds read in the parser of certificates (CVE-2025-9230).', 'Add a test for it.']
    : ['Refresh the patches.', `Drop an obsolete conffile; the package is ${amount(size)} now.`]
  const entry = (of: string, lines: readonly string[], date: string) =>
    `${source} (${of}) ${distribution}; urgency=${urgency}\n\n${lines.map((line) => `  * ${line}\n`).join('')}\n -- ${team}  ${date}\n`
  const former = upgrade ? [entry(upgrade.old, ['New upstream release.'], 'Sat, 08 Mar 2025 11:20:14 +0100')] : []
  const entries = [entry(version, changes, 'Tue, 30 Sep 2025 18:42:07 +0200'), ...former]
  await stdout(`${suite === 'third' ? 'package' : 'repository'}\n${entries.join('\n')}`)
  return 0
}

/** `CHANGELOG_MISSING`. */
const MISSING = 66
