import { expect, test } from 'vitest'
import { DNF_PROGRAM } from '../../../functions/managers/dnf-program.ts'
import { DIFFERS_END, DIFFERS_MARK, RUN_CODES } from '../../../functions/managers/agreement.ts'
import { dnfWith, SHELLS } from './dnf-stand-in.ts'

/*
 * dnf 4: its program is Python and is tried on real containers (test/host/managers-dnf.test.ts); here its answers are
 * recorded, and the shell around it is real.
 */

const CHANGES = 'change\tupgrade\trig-rpm\tnoarch\t1.0-1\t2.0-1\trig\t1\t6157\t0\trig-rpm\ncode\t0\n'

test.each(SHELLS)('%s asks the program in the Python that dnf names, with the words of the selection', async (sh) => {
  const { ask, write, calls } = await dnfWith(4, sh)
  await write('answer.changes', CHANGES)

  const { lines, status } = await ask(`dnf_changes all keep these 'rig-rpm:noarch' '$(touch "$FOLDER/owned")'`)

  expect(status).toBe(0)
  expect(`${lines.join('\n')}\n`).toBe(CHANGES)
  expect(await calls()).toEqual(['changes all keep these rig-rpm:noarch $(touch "$FOLDER/owned")'])
})

test('the program stands in every shell text as it is, and the marks of a refusal are those of every manager', () => {
  expect(DNF_PROGRAM).not.toMatch(/[\\`']/)
  expect(DNF_PROGRAM).toContain(`"${DIFFERS_MARK}"`)
  expect(DNF_PROGRAM).toContain(`"${DIFFERS_END}"`)
  expect(DNF_PROGRAM).toContain(`return ${RUN_CODES.differs}`)
  expect(DNF_PROGRAM).toContain(`return ${RUN_CODES.notBegun}`)
})

test('a check waits for the lock of another process, and says that it is there when it does not end', async () => {
  const free = await dnfWith(4)
  await free.write('busy', '3')
  await free.write('answer.refresh', 'repository\trig\tfile:///srv\nlists\t1\ncode\t0\n')
  const busy = await dnfWith(4)
  await busy.write('busy', '1000')

  const waited = await free.ask('dnf_refresh')
  const told = await busy.ask('dnf_refresh; dnf_left')

  expect(waited.lines).toEqual(['repository\trig\tfile:///srv', 'lists\t1', 'code\t0'])
  expect(told.lines).toEqual(['locked', 'code\t200', 'locked', 'code\t200'])
  expect((await busy.calls()).length).toBeLessThan(30)
})

test.each(['', 'repository\trig\tfile:///srv\n'])(
  'an answer that ends early after %j has no code 0',
  async (answer) => {
    const { ask, write } = await dnfWith(4)
    await write('answer.refresh', answer)
    await write('code.refresh', '124')

    const { lines } = await ask('dnf_refresh')

    expect(lines.at(-1)).toBe('code\t124')
  },
)

test.each([0, 1, 65, 75])('a run ends with the code %i of the program', async (code) => {
  const { ask, write, calls } = await dnfWith(4)
  await write('code.run', String(code))
  await write('answer.run', 'Upgrading: rig-rpm\n')

  const { lines } = await ask('hash=abc; dnf_run all keep without rig-web; echo "end $?"')

  expect(lines).toEqual(['Upgrading: rig-rpm', `end ${code}`])
  expect(await calls()).toEqual(['run abc all keep without rig-web'])
})

test('a run and an upgrade wait two minutes for a lock, and then have not begun', async () => {
  const { ask, write, calls } = await dnfWith(4)
  await write('busy', '1000')

  const { lines } = await ask('hash=abc; dnf_run all keep every; echo "end $?"; dnf_upgrade; echo "end $?"')

  expect(lines).toEqual([
    'Waiting for another process that uses dnf or rpm.',
    'Error: another process still uses dnf or rpm.',
    `end ${RUN_CODES.notBegun}`,
    'Waiting for another process that uses dnf or rpm.',
    'Error: another process still uses dnf or rpm.',
    `end ${RUN_CODES.notBegun}`,
  ])
  expect(await calls()).toHaveLength(120)
})

test.each(SHELLS)(
  '%s tells unmet dependencies by the package that has them, and packages that are there twice',
  async (sh) => {
    const { ask, write } = await dnfWith(4, sh)
    await write(
      'answer.va',
      'Unsatisfied dependencies for rig-sec-1:3.0-1.noarch:\n\trig-lib >= 2.0 is needed by (installed) rig-sec-1:3.0-1.noarch\n\tso.1()(64bit) is needed by (installed) rig-sec-1:3.0-1.noarch\n',
    )
    await write('code.va', '2')
    await write('answer.verify', 'unfinished\trig-lib\tseveral versions are installed\ncode\t0\n')

    const { lines } = await ask('dnf_verify')

    expect(lines).toEqual([
      'broken\trig-sec\trig-lib >= 2.0 is needed by (installed) rig-sec-1:3.0-1.noarch',
      'broken\trig-sec\tso.1()(64bit) is needed by (installed) rig-sec-1:3.0-1.noarch',
      'unfinished\trig-lib\tseveral versions are installed',
      'code\t0',
    ])
  },
)

test('a database of rpm that cannot be read is never a healthy one', async () => {
  const { ask, write, calls } = await dnfWith(4)
  await write('answer.va', 'error: cannot open Packages database in /var/lib/rpm\n')
  await write('code.va', '1')

  const { lines } = await ask('dnf_verify')

  expect(lines).toEqual(['broken\t-\terror: cannot open Packages database in /var/lib/rpm', 'code\t1'])
  expect(await calls()).toEqual([])
})

test.each([
  [[], 'database'],
  [['rig-0/repodata/1-primary.xml.gz'], 'database'],
  [['epel-0/repodata/1-updateinfo.xml.gz'], 'database'],
  [['updates-0/repodata/1-updateinfo.xml.gz'], 'told'],
  [['epel-0/repodata/1-updateinfo.xml.gz', 'baseos-0/repodata/1-updateinfo.xml.zck'], 'told'],
])('with the lists %j, the marks of security updates are: %s', async (files, mark) => {
  const { ask } = await dnfWith(4)

  const { lines } = await ask(
    `for each in ${files.join(' ')}; do mkdir -p "$FOLDER/cache/\${each%/*}"; : >"$FOLDER/cache/$each"; done; dnf_security`,
  )

  expect(lines).toEqual([mark])
})
