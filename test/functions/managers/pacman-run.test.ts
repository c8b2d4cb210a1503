import { describe, expect, test } from 'vitest'
import { hashOf, NOTHING, pacmanWith, SHELLS } from './pacman-stand-in.ts'

const PLAN = hashOf('upgrade rig-pac:x86_64 1.0-1 2.0-1')
const RUN = `managed_run ${PLAN} all keep every`

describe.each(SHELLS)('in %s', (shell) => {
  test('a run makes exactly its plan, from the copy, and the lists of the upgrade become pacman’s own', async () => {
    const { ask, read, has, write } = await pacmanWith(shell)
    await ask('pacman_refresh')
    await write({ 'server/repo.db': 'published after the plan' })

    const { status, lines } = await ask(RUN)

    expect({ status, lines }).toEqual({
      status: 0,
      lines: [
        ':: Starting full system upgrade...',
        '',
        'ops-panel-plan: pacman does exactly what was planned.',
        'upgrading rig-pac...',
      ],
    })
    expect(await read('data/sync/repo.db')).toBe('newer repo')
    expect(has('data/db.lck')).toBe(false)
    const calls = (await read('calls')).split('\n').filter((call) => call.startsWith('-Su '))
    expect(calls).toHaveLength(2)
    // A folder of hooks that is not there is an error in pacman 7.
    expect(calls[1]).toMatch(/^-Su --noconfirm --ask 65 .*--hookdir \S+\/hook$/)
    expect(calls[1]).not.toContain('no-such-folder')
  })

  test('another plan is refused before pacman begins', async () => {
    const { ask, read, has } = await pacmanWith(shell)

    const { status, lines } = await ask(`managed_run ${hashOf('upgrade rig-pac:x86_64 1.0-1 1.9-1')} all keep every`)

    expect(status).toBe(65)
    expect(lines).toEqual(['', 'ops-panel-plan differs', ' upgrade rig-pac:x86_64 1.0-1 2.0-1', 'ops-panel-plan end'])
    expect((await read('calls')).split('\n').filter((call) => call.startsWith('-Su '))).toHaveLength(1)
    expect(has('data/db.lck')).toBe(false)
    expect(has('data/sync/repo.db')).toBe(false)
  })

  test('the hook refuses a transaction with other packages than the simulation', async () => {
    const { ask, write, read, has } = await pacmanWith(shell)
    await write({ transaction: 'rig-more\nrig-pac\n' })

    const { status, lines } = await ask(RUN)

    expect(status).toBe(65)
    expect(lines.slice(-5)).toEqual([
      '',
      'ops-panel-plan differs',
      ' install rig-more:any - -',
      ' upgrade rig-pac:x86_64 1.0-1 2.0-1',
      'ops-panel-plan end',
    ])
    expect(await read('installed')).toContain('rig-pac 1.0-1')
    expect(has('data/sync/repo.db')).toBe(false)
  })

  test.each([
    ['the lists', 'echo other >"$FOLDER/data/sync/repo.db"'],
    ['what is installed', 'mkdir "$FOLDER/data/local/rig-more-1-1"'],
    ['the configuration', 'echo "IgnorePkg = x" >>"$FOLDER/pacman.conf"'],
  ])('the hook refuses where another process has changed %s in between', async (_, meanwhile) => {
    const { ask, write, read } = await pacmanWith(shell)
    await write({ meanwhile })

    const { status, lines } = await ask(RUN)

    expect(status).toBe(75)
    expect(lines.at(-1)).toContain('has changed the lists, the packages or the configuration')
    expect(await read('installed')).toContain('rig-pac 1.0-1')

    const more = `${meanwhile}; cp "$FOLDER/other" "$FOLDER/simulation"; echo 0 >"$FOLDER/simulated"`
    await write({ meanwhile: more.replace('rig-more', 'rig-other'), other: NOTHING })
    const other = await ask(RUN)
    expect(other.status).toBe(65)
    expect(other.lines.slice(-2)).toEqual(['ops-panel-plan differs', 'ops-panel-plan end'])
  })

  test('pacman gets its own lists back where nothing was upgraded', async () => {
    const { ask, write, read, has, age } = await pacmanWith(shell)
    await write({ 'data/sync/repo.db': 'own repo', gone: 'error: failed retrieving file\n' })
    await age('data/sync/repo.db', -60)
    await ask('pacman_refresh')
    await write({ meanwhile: 'cp "$FOLDER/data/sync/repo.db" "$FOLDER/used"' })

    expect((await ask(RUN)).status).toBe(75)

    expect(await read('used')).toBe('newer repo')
    expect(await read('data/sync/repo.db')).toBe('own repo')
    expect(has('data/sync/extra.db')).toBe(false)
    expect(has('data/db.lck')).toBe(false)
  })

  test('the time that one mirror tells does not put the lists of the last refresh aside', async () => {
    const { ask, write, age } = await pacmanWith(shell)
    await write({ 'data/sync/repo.db': 'own repo', 'data/sync/extra.db': 'own extra' })
    await age('data/sync/extra.db', 60 * 24 * 365)
    await ask('pacman_refresh')
    const used = 'pacman_begin && cat "$work/db/sync/repo.db" && echo'

    expect((await ask(used)).lines).toEqual(['newer repo'])
    await write({ 'data/sync/repo.db': 'refreshed by another' })
    expect((await ask(used)).lines).toEqual(['refreshed by another'])
  })

  test('a package that the mirror has no more fails before anything changes', async () => {
    const { ask, write, has } = await pacmanWith(shell)
    await write({ gone: "error: failed retrieving file 'rig-pac-2.0-1-x86_64.pkg.tar.zst' from disk\n" })

    expect((await ask(RUN)).status).toBe(75)
    expect(has('data/sync/repo.db')).toBe(false)
    expect(has('data/db.lck')).toBe(false)
  })

  test('an unknown key is refused, with what to do', async () => {
    const { ask, write } = await pacmanWith(shell)
    await write({ gone: 'error: rig-pac: signature from "Rig <rig@localhost>" is unknown trust\n' })

    const { status, lines } = await ask(RUN)

    expect(status).toBe(75)
    expect(lines.at(-1)).toContain('archlinux-keyring')
  })

  test('after the agreement the code is pacman’s own, and another result than the plan is told', async () => {
    const { ask, write, remove } = await pacmanWith(shell)
    await write({ ends: '3' })
    expect((await ask(RUN)).status).toBe(3)

    await remove('ends')
    await write({ installed: 'rig-old 1.0-1\nrig-pac 1.0-1\n', afterwards: 'rig-old 1.0-1\nrig-pac 1.5-1\n' })
    const { status, lines } = await ask(RUN)
    expect(status).toBe(70)
    expect(lines.at(-1)).toBe('ops-panel: rig-pac is not as planned.')
  })

  test('a stale lock is told and left to its owner', async () => {
    const { ask, write, age, has } = await pacmanWith(shell)
    await write({ 'data/db.lck': '' })
    await age('data/db.lck', -10)

    expect((await ask('pacman_refresh')).lines).toContain('locked')
    const run = await ask(RUN)
    const upgrade = await ask('managed_upgrade')

    expect([run.status, upgrade.status]).toEqual([75, 1])
    expect(run.lines.at(-1)).toMatch(/an interrupted run has left the lock/)
    expect(has('data/db.lck')).toBe(true)
  })

  test('a run waits for the lock of another process', async () => {
    const { ask, write, has } = await pacmanWith(shell)
    await write({ 'data/db.lck': '' })

    const { status, lines } = await ask(`sleep() { rm "$FOLDER/data/db.lck"; }; ${RUN}`)

    expect(status).toBe(0)
    expect(lines[0]).toBe('Waiting for another process that has the database of pacman.')
    expect(has('data/db.lck')).toBe(false)
  })

  test('an upgrade without a plan refreshes, and takes everything', async () => {
    const { ask, read, write } = await pacmanWith(shell)
    await write({ 'server/repo.db': 'newest repo' })

    const { status, lines } = await ask('managed_upgrade')

    expect({ status, lines }).toEqual({
      status: 0,
      lines: [':: Starting full system upgrade...', 'upgrading rig-pac...'],
    })
    expect(await read('data/sync/repo.db')).toBe('newest repo')
  })

  test('configuration files to compare are told after a run', async () => {
    const { ask, write } = await pacmanWith(shell)
    await write({
      gone: 'warning: /etc/a.conf installed as /etc/a.conf.pacnew\nwarning: /etc/b saved as /etc/b.pacsave\n',
    })

    expect((await ask(RUN)).lines).toEqual(expect.arrayContaining(['  /etc/a.conf.pacnew', '  /etc/b.pacsave']))
  })
})
