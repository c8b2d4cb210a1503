import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { quote, script } from '../../ssh/command.ts'
import { randomOf, seedOf } from '../rounds.ts'

/** Runs a command line in a real shell. */
async function shell(line: string): Promise<string> {
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', line], { maxBuffer: 16 * 1024 * 1024 })
  return stdout
}

/** Writes each argument with a mark behind it that no argument here contains. */
async function through(args: readonly string[]): Promise<string[]> {
  const stdout = await shell(quote(['printf', '%s<|end|>', ...args]))
  return stdout.split('<|end|>').slice(0, -1)
}

const HOSTILE = [
  '',
  ' ',
  "'",
  "''",
  "'\\''",
  '"',
  '\\',
  '\\\\',
  '\\n',
  'a b',
  '\n',
  'a\nb\n',
  '\r\n',
  '\t',
  '$HOME',
  `$\{HOME}`,
  '$(id)',
  '`id`',
  '$((1+1))',
  '; id',
  '| id',
  '&& id',
  '& id',
  '> /tmp/x',
  '< /etc/passwd',
  '*',
  '?',
  '[a-z]',
  '{a,b}',
  '~',
  '~root',
  '!',
  '!!',
  '#',
  '# comment',
  '-n',
  '--',
  '-e \\x41',
  '%s',
  '=',
  'A=b',
  'if',
  'é',
  '日本語',
  '🦊',
  '\u202e',
  '\u0001',
  '\u001b[31m',
  '\u007f',
  "101'; touch pwned; '",
  '101 -- sh -c "touch pwned"',
  '$(touch pwned)',
]

test.each(HOSTILE.map((text) => [JSON.stringify(text), text]))('%s reaches the program unchanged', async (_, text) => {
  expect(await through([text])).toEqual([text])
})

test('all of them together stay separate, and nothing of them runs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ops-panel-quote-'))

  const line = quote(['printf', '%s<|end|>', ...HOSTILE])
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', line], { cwd: folder })

  expect(stdout.split('<|end|>').slice(0, -1)).toEqual(HOSTILE)
  expect(await readdir(folder)).toEqual([])
  await rm(folder, { recursive: true })
})

test('five hundred random strings reach the program unchanged, through two shells', async () => {
  const random = randomOf(seedOf('test/ssh/command.test.ts'))
  const alphabet = [...'\'"\\$`;|&<>(){}[]*?!#~=%-+ \n\t\rabZ09_@:,./^é🦊']
  const letter = () => alphabet[random.between(0, alphabet.length - 1)]
  const word = () => Array.from({ length: random.between(0, 29) }, letter).join('')
  const words = Array.from({ length: 500 }, word)

  expect(await through(words)).toEqual(words)
  const inner = quote(['printf', '%s<|end|>', ...words])
  expect((await shell(quote(['sh', '-c', inner]))).split('<|end|>').slice(0, -1)).toEqual(words)
})

test('the program’s own name is quoted as well', async () => {
  await expect(shell(quote(['true; echo pwned']))).rejects.toMatchObject({ code: 127, stdout: '' })
})

test('a NUL is refused in every position', () => {
  expect(() => quote(['a\0b'])).toThrow(RangeError)
  expect(() => quote(['printf', '%s', 'a', '\0'])).toThrow(RangeError)
})

test('plain words stay unquoted', () => {
  expect(quote(['/usr/sbin/pct', 'exec', '101', '--', 'env', 'LC_ALL=C', 'apt'])).toBe(
    '/usr/sbin/pct exec 101 -- env LC_ALL=C apt',
  )
})

test('a script receives its name and its arguments, and none of them is read as code', async () => {
  const command = script('printf "%s|" "$0" "$#" "$@"', 'my-name', '$(id)', "it's", '')

  expect(await shell(quote(command))).toBe("my-name|3|$(id)|it's||")
})
