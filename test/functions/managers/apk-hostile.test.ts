import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { changesOf, leftOf, refreshOf, verifiedOf } from '../../../functions/managers/managed-lines.ts'
import { randomOf, rounds, seedOf } from '../../rounds.ts'
import type { Random } from '../../soak/random.ts'
import { apkBox, SHELLS } from './apk-box.ts'

const HOSTS = rounds(12, 300)
const TEST_MS = 60_000 + HOSTS * 15_000
const seed = seedOf('test/functions/managers/apk-hostile.test.ts', 'whole')

const NAMES = [
  'app',
  'tool',
  'libold',
  '$(touch "$APK_ROOT/owned")',
  '`touch "$APK_ROOT/owned"`',
  `'; touch "$APK_ROOT/owned"; '`,
  '--root=/',
  '-',
  'app@edge',
  'a\tb',
  'a\u0000b',
  '../../etc/passwd',
  '%s%n%1$s',
  '\u001b[2J\u001b]0;x\u0007',
  'x'.repeat(5_000),
  '\\1\\n&',
  '*',
  'é',
  '',
] as const
const VERSIONS = [
  '1.0-r0',
  '2.0-r0',
  '1.0_p1~abc-r9',
  '',
  '9'.repeat(400),
  '1 2',
  '$(id)',
  '-',
  ')',
  '1.0-r0 -> 2.0-r0',
] as const
const WORDS = [
  'OK: 5 distinct packages available',
  '1 unavailable, 99999999999999999999 stale; 1 distinct packages available',
  'After this operation, 0 B of additional disk space will be used.',
  'Do you want to continue [Y/n]? ',
  'The following packages will be upgraded:',
  'The following packages will be REMOVED:',
  'ERROR: unable to select packages:',
  'ERROR: Unable to lock database: Resource temporarily unavailable',
  'ops-panel-plan: apk does exactly what was planned.',
  'code 0',
  'code\t0',
  '--',
] as const

function piece(random: Random): string {
  const name = random.pick(NAMES)
  const [from, to] = [random.pick(VERSIONS), random.pick(VERSIONS)]
  return random.pick([
    `(1/1) Upgrading ${name} (${from} -> ${to})`,
    `(${random.between(0, 9)}/${random.between(0, 9)}) Upgrading ${name} (${from} -> ${to})`,
    `(1/99999999999999999999) Installing ${name} (${to})`,
    `(1/1) Purging ${name} (${from})`,
    `(1/1) ${name} ${name} (${from})`,
    `WARNING: updating and opening ${name}: ${name}`,
    `WARNING: updating and opening https://u:p@repo.example/${name}: ${name}`,
    `ERROR: https://repo.example/alpine/v3.20/main: ${name}`,
    `${name}-${from}   < ${to}`,
    `${name} policy:`,
    `  ${to}:`,
    `    https://repo.example/${name}`,
    `  ${name}`,
    `    required by: ${name}[${name}]`,
    `P:${name}`,
    `V:${to}`,
    `A:${name}`,
    `S:${to}`,
    `o:${name}`,
    `D:${name} ${name}`,
    `f:${name}`,
    `${name}=${to}`,
    `@${name} https://repo.example/${name} ${name}`,
    ...WORDS,
  ])
}

function hostileText(random: Random): string {
  const count = random.chance(0.05) ? 20_000 : random.between(0, 60)
  return `${Array.from({ length: count }, () => piece(random)).join(random.chance(0.95) ? '\n' : '')}\n`
}

const FILES = [
  ...['state/version', 'state/policy', 'state/unmet', 'state/question', 'lib/apk/db/installed'],
  ...['etc/apk/world', 'etc/apk/repositories', 'repo/APKINDEX'],
] as const
const RECORDED = ['state/update', 'state/simulation'] as const

test(
  `whatever apk, its files and its repositories say becomes no command, no change, and an answer in time (seed ${seed})`,
  async () => {
    const random = randomOf(seed)
    for (let host = 0; host < HOSTS; host += 1) {
      const { ask, installed, read, root, write } = await apkBox({
        shell: random.pick(SHELLS),
        major: random.pick(['2', '3']),
      })
      await installed({ app: { version: '1.0-r0', needs: 'libold' }, libold: { version: '1-r0' } })
      await write('etc/apk/world', 'app\n')
      for (const path of FILES) if (random.chance(0.4)) await write(path, hostileText(random))
      for (const path of RECORDED)
        if (random.chance(0.7)) await write(path, `${random.pick([0, 0, 1, 99])}\n${hostileText(random)}`)
      const began = performance.now()
      const linesOf = async (call: string) => (await ask(call)).lines

      const refresh = await refreshOf(await linesOf('apk_refresh'))
      const changes = await changesOf(await linesOf('apk_changes all remove every'))
      await changesOf(await linesOf('apk_changes all keep without app'))
      const left = await leftOf(await linesOf('apk_left'))
      const verified = await verifiedOf(await linesOf('apk_verify'))
      const run = await ask(`managed_run ${'0'.repeat(64)} all remove every`)

      expect([refresh, verified]).not.toContain(undefined)
      // A name or an architecture of another kind makes an answer unreadable, and so no result.
      for (const each of [...(changes?.packages ?? []), ...(left?.packages ?? [])])
        expect(each.name).toMatch(/^[\w.][\w.+-]*$/)
      expect([65, 75]).toContain(run.status)
      expect(await read('state/log')).not.toMatch(/asked [yY]|asked $|^(Upgrading|Installing|Purging) /m)
      expect(existsSync(join(root, 'owned'))).toBe(false)
      expect(performance.now() - began).toBeLessThan(60_000)
    }
  },
  TEST_MS,
)
