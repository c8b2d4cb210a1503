import { mkdir, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { pacmanWith, SHELLS } from './pacman-stand-in.ts'
import { zypperWith } from './zypper-stand-in.ts'

/*
 * A disk that is full in the middle of a check. A limit of the size of a file stands for it: writes beyond it fail, and
 * programs that do not look at this write less. Each limit cuts other files.
 */

const NAMES = Array.from({ length: 60 }, (_, at) => `rig-package-${at}`)
/** Limits in blocks of 512 bytes, and one that cuts nothing. */
const LIMITS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 28, 32, 40, 60]
const limited = (blocks: number, call: string) => `trap '' XFSZ; ulimit -f ${blocks}; ${call}`
const isWhole = (lines: readonly string[]) => lines.at(-1) === 'code\t0'

describe.each(SHELLS)('in %s', (shell) => {
  test.each(['pacman_changes all keep every', 'pacman_left', 'pacman_verify'])(
    '%s of pacman is the whole answer or none, wherever the disk is full',
    async (call) => {
      const { ask, at, write } = await pacmanWith(shell)
      for (const name of NAMES) {
        await mkdir(at('data/local', `${name}-1.0-1`))
        await writeFile(at('data/local', `${name}-1.0-1`, 'desc'), `%NAME%\n${name}\n\n%ARCH%\nany\n\n`)
      }
      const rows = NAMES.map((name) => `repo/${name}  1.0-1  2.0-1  0.00 MiB  0.00 MiB`)
      await write({
        simulation: `resolving dependencies...\n\nPackage (${NAMES.length})  Old Version  New Version  Net Change  Download Size\n\n${rows.join('\n')}\n\nTotal Download Size:   0.00 MiB\n\n:: Proceed with installation? [Y/n] \n`,
        uris: NAMES.map((name) => `${name}\t2.0-1\t333\tfile:///srv/repo/${name}-2.0-1-any.pkg.tar.zst\n`).join(''),
        newer: NAMES.map((name) => `${name} 1.0-1 -> 2.0-1${call === 'pacman_left' ? ' [ignored]' : ''}\n`).join(''),
        verified: NAMES.map((name) => `error: missing 'rig-lib>=2' dependency for '${name}'\n`).join(''),
      })
      const { lines: whole } = await ask(call)
      expect(whole.length).toBeGreaterThan(NAMES.length)
      expect(isWhole(whole)).toBe(true)

      for (const blocks of LIMITS) {
        const { lines } = await ask(limited(blocks, call))
        if (isWhole(lines)) expect(lines, `${blocks} blocks`).toEqual(whole)
      }
    },
  )
})

test.each(['zypper_refresh', 'zypper_changes all keep every', 'zypper_left'])(
  '%s is the whole answer or none, wherever the disk is full',
  async (call) => {
    const { ask } = await zypperWith({ offers: NAMES.map((name) => ({ name, from: '1.0-1', to: '2.0-1' })) })
    const { lines: whole } = await ask(call)
    expect(isWhole(whole)).toBe(true)

    for (const blocks of LIMITS) {
      const { lines } = await ask(limited(blocks, call))
      if (isWhole(lines)) expect(lines, `${blocks} blocks`).toEqual(whole)
    }
  },
)

test('changes of zypper that nobody could write are no empty upgrade', async () => {
  const { ask } = await zypperWith({
    awk: `case "$*" in *install-summary*) exit 2 ;; esac\nexec /usr/bin/awk "$@"`,
  })

  expect((await ask('zypper_changes all keep every')).lines).toEqual(['code\t4'])
})
