import { expect, test } from 'vitest'
import type { Account } from '../../demo/account.ts'
import { type Command, script } from '../../ssh/command.ts'
import { WITHOUT_INPUT } from '../../ssh/identity-script.ts'
import { hostOf, startDemo, textOf } from '../runtime/demo.ts'
import { begin } from './host-shell.ts'

const PASSWORD = 'pw-of-asks'
const USERS: Record<string, Account> = {
  asks: { password: PASSWORD, uid: 1200, groups: ['asks', 'sudo'], sudo: 'password' },
}

const unheard = (...command: Command) => script(WITHOUT_INPUT, 'ops-panel-command', ...command)

/** Runs a command with real programs, with a password waiting on its stdin. */
async function withPassword(command: Command) {
  const { child, ended } = begin(command)
  child.stdin.end(`${PASSWORD}\n`)
  const { code, stdout, stderr } = await ended
  return { code, stdout: stdout.toString(), stderr }
}

test('a program that reads its stdin finds nothing there, not the password', async () => {
  expect(await withPassword(['cat'])).toEqual({ code: 0, stdout: `${PASSWORD}\n`, stderr: '' })

  expect(await withPassword(unheard('cat'))).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('the arguments arrive unchanged, and none is read as shell code', async () => {
  const words = ['a b', '', '$(id)', '"', "'", '*', ';', '-n', '--', 'é', '\n', '</dev/null']

  const { stdout, code } = await withPassword(unheard('printf', '<%s>', ...words))

  expect({ stdout, code }).toEqual({ stdout: words.map((word) => `<${word}>`).join(''), code: 0 })
})

test('the exit code and the errors are the program’s own', async () => {
  expect(await withPassword(unheard('sh', '-c', 'echo out; echo err >&2; exit 3'))).toEqual({
    code: 3,
    stdout: 'out\n',
    stderr: 'err\n',
  })
  expect((await withPassword(unheard('no-such-program'))).code).toBe(127)
})

test('the program replaces the shell, so that a signal reaches it', async () => {
  const { child, ended, seen } = begin(unheard('sh', '-c', 'echo $$; exec sleep 60'))
  await expect.poll(seen).toBe(`${child.pid}\n`)

  child.kill('SIGTERM')

  expect((await ended).code).toBeNull()
})

/** An account whose sudo required its password when the service asked, and no longer does. */
async function noLongerAsks() {
  const demo = await startDemo({ users: USERS })
  const heard: (string | undefined)[] = []
  demo.override = (words, { user, stdin }) => {
    if (words[0] === 'sudo' && words.includes('probe')) user.sudo = 'nopasswd'
    if (words[0] !== 'probe') return undefined
    return stdin.readLine().then((line) => {
      heard.push(line)
      return 0
    })
  }
  const { host, lines } = await hostOf(demo, { username: 'asks', password: PASSWORD })
  expect(await host.elevation()).toBe('password')
  return { demo, host, heard, lines }
}

test('when sudo does not ask after all, the password does not become the input of the program', async () => {
  const { demo, host, heard, lines } = await noLongerAsks()

  expect((await host.exec(['probe'], { rights: 'command' })).code).toBe(0)

  expect(heard).toEqual([undefined])
  expect(JSON.stringify(demo.commands)).not.toContain(PASSWORD)
  expect(lines().join('\n')).not.toContain(PASSWORD)
})

test('nor does it become the input of a streamed program', async () => {
  const { host, heard } = await noLongerAsks()

  const { read, end } = await host.stream(['probe'], { rights: 'command' })
  expect(await textOf(read)).toBe('')
  expect((await end).code).toBe(0)
  expect(heard).toEqual([undefined])
})

test('when sudo asks, it gets the password and the program gets nothing', async () => {
  const demo = await startDemo({ users: USERS })
  const heard: unknown[] = []
  demo.override = (words, { user, stdin }) =>
    words[0] === 'probe'
      ? stdin.readLine().then((line) => {
          heard.push([user.uid, line])
          return 0
        })
      : undefined
  const { host } = await hostOf(demo, { username: 'asks', password: PASSWORD })

  expect((await host.exec(['probe'], { rights: 'command' })).code).toBe(0)

  expect(heard).toEqual([[0, undefined]])
})
