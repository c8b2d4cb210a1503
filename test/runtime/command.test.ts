import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeCommands, helpFor, parseCommandLine, runCommand } from '../../cli/command-line.ts'
import { readConfig } from '../../platform/config.ts'
import { createLog } from '../../platform/log.ts'
import { type BareContext, type CliCommand, defineCommand, UsageError } from '../../runtime/command.ts'
import { temporaryFolder } from '../db/folder.ts'
import { answering } from '../functions/console.ts'
import { runProgram } from '../serve/program.ts'

const command = (name: string, more: Partial<CliCommand> = {}): CliCommand => ({
  name,
  summary: `ce que fait ${name}`,
  run: async () => name,
  ...more,
})

const list = command('keys list')
const rotate = command('keys rotate', { flags: { revoke: 'retirer les autres', quiet: 'se taire' } })
const end = command('sessions end', { args: ['utilisateur'] })
const check = command('check')
const commands = [list, rotate, end, check]

const parse = (...words: string[]) => parseCommandLine(commands, words)

function message(...words: string[]): string {
  try {
    parse(...words)
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
  throw new Error(`« ${words.join(' ')} » was understood`)
}

test('a command is one word or two', () => {
  expect(parse('check')).toEqual({ command: check, typed: { args: [], flags: new Set() } })
  expect(parse('keys', 'list')).toEqual({ command: list, typed: { args: [], flags: new Set() } })
})

test('flags may stand anywhere, once or more often', () => {
  const typed = { args: [], flags: new Set(['revoke']) }

  expect(parse('keys', 'rotate', '--revoke')).toEqual({ command: rotate, typed })
  expect(parse('--revoke', 'keys', 'rotate')).toEqual({ command: rotate, typed })
  expect(parse('keys', '--revoke', 'rotate', '--revoke')).toEqual({ command: rotate, typed })
  expect(parse('keys', 'rotate', '--quiet', '--revoke').typed.flags).toEqual(new Set(['revoke', 'quiet']))
})

test('arguments follow the command’s name, unchanged', () => {
  for (const name of ['bob', 'Éloïse', 'bob martin', "o'brien", '1', ' ', 'keys'])
    expect(parse('sessions', 'end', name)).toEqual({ command: end, typed: { args: [name], flags: new Set() } })
})

test('after -- an argument may begin with a dash', () => {
  expect(parse('sessions', 'end', '--', '-x').typed.args).toEqual(['-x'])
  expect(parse('sessions', 'end', '--', '--').typed.args).toEqual(['--'])
})

test.each([
  [['keys', 'list', 'all'], 'il faut : keys list.'],
  [['check', 'check'], 'il faut : check.'],
  [['sessions', 'end'], 'il faut : sessions end <utilisateur>.'],
  [['sessions', 'end', 'bob', 'alice'], 'il faut : sessions end <utilisateur>.'],
])('%j has too many or too few arguments, and the error names the expected ones', (words, expected) => {
  expect(message(...words)).toBe(expected)
})

test.each([
  [['frobnicate'], 'commande inconnue « frobnicate ».'],
  [['frobnicate', 'all'], 'commande inconnue « frobnicate all ».'],
  [['list'], 'commande inconnue « list ».'],
  [['Check'], 'commande inconnue « Check ».'],
  [[''], 'commande inconnue «  ».'],
  [['keys'], 'commande inconnue « keys ». Possibles : keys list, keys rotate.'],
  [['keys', 'listing'], 'commande inconnue « keys listing ». Possibles : keys list, keys rotate.'],
  [['sessions'], 'commande inconnue « sessions ». Possibles : sessions end <utilisateur>.'],
  [['--revoke'], 'une option seule n’est pas une commande.'],
])('%j is not a command, and the error suggests similar ones', (words, expected) => {
  expect(message(...words)).toBe(expected)
})

test.each([
  [['keys', 'list', '--revoke'], '« keys list » n’a pas d’option.'],
  [['keys', 'rotate', '--force'], '« keys rotate » n’accepte que --revoke, --quiet.'],
  [['keys', 'rotate', '--rev'], '« keys rotate » n’accepte que --revoke, --quiet.'],
  [['keys', 'rotate', '--revoke=yes'], '« keys rotate » n’accepte que --revoke, --quiet.'],
  [['keys', 'rotate', '--no-revoke'], '« keys rotate » n’accepte que --revoke, --quiet.'],
  [['keys', 'rotate', '-r'], '« keys rotate » n’accepte que --revoke, --quiet.'],
  [['keys', 'rotate', '--revoke', '--force'], '« keys rotate » n’accepte que --revoke, --quiet.'],
])('%j has an unknown flag, and the error lists the known ones', (words, expected) => {
  expect(message(...words)).toBe(expected)
})

test('the help lists each command with its arguments, and each flag', () => {
  expect(describeCommands([rotate, end])).toBe(
    [
      '  keys rotate                 ce que fait keys rotate',
      '    --revoke                  retirer les autres',
      '    --quiet                   se taire',
      '  sessions end <utilisateur>  ce que fait sessions end',
    ].join('\n'),
  )
})

const get = command('settings get', { args: ['réglage?'] })
const set = command('settings set', { args: ['réglage', 'valeur?'], flags: { quiet: 'se taire' } })

test('help for a command or a first word covers only the matching commands', () => {
  expect(helpFor(commands, ['keys', 'rotate'])).toBe(
    [
      'Usage : ops-panel keys rotate [options]',
      '',
      '  keys rotate  ce que fait keys rotate',
      '    --revoke   retirer les autres',
      '    --quiet    se taire',
      '',
      'Toutes les commandes et les variables : ops-panel --help',
      '',
    ].join('\n'),
  )
  expect(helpFor(commands, ['sessions', 'end', 'alice'])).toMatch(/^Usage : ops-panel sessions end <utilisateur>\n/)
  const both = helpFor(commands, ['keys']) ?? ''
  expect(both).toMatch(/^Usage : ops-panel keys …\n/)
  expect(both).toContain('keys list')
  expect(both).toContain('keys rotate')
  expect(both).not.toContain('sessions end')
})

test('an empty request for help covers no command', () => {
  expect(helpFor(commands, [])).toBeUndefined()
  expect(helpFor(commands, ['key'])).toBeUndefined()
  expect(helpFor(commands, ['unknown', 'keys'])).toBeUndefined()
})

test('an optional argument may be absent', () => {
  const parseOptional = (...words: string[]) => parseCommandLine([get, set], words).typed.args

  expect(parseOptional('settings', 'get')).toEqual([])
  expect(parseOptional('settings', 'get', 'a')).toEqual(['a'])
  expect(parseOptional('settings', 'set', 'a')).toEqual(['a'])
  expect(parseOptional('settings', 'set', 'a', 'b')).toEqual(['a', 'b'])
  expect(parseOptional('settings', 'set', 'a', '')).toEqual(['a', ''])
  expect(parseOptional('settings', 'set', 'a', '--quiet', '--', '-b')).toEqual(['a', '-b'])
})

test.each([
  [['settings', 'get', 'a', 'b'], 'il faut : settings get [réglage].'],
  [['settings', 'set'], 'il faut : settings set <réglage> [valeur].'],
  [['settings', 'set', 'a', 'b', 'c'], 'il faut : settings set <réglage> [valeur].'],
])('%j has too many or too few words, and the error shows optional ones in brackets', (words, expected) => {
  expect(() => parseCommandLine([get, set], words)).toThrow(new UsageError(expected))
})

test('the help shows optional arguments in brackets', () => {
  expect(describeCommands([get, set]).split('\n')[1]).toBe(
    '  settings set <réglage> [valeur]  ce que fait settings set',
  )
})

const CONTEXT: BareContext = {
  config: readConfig({}),
  clock: () => new Date(),
  log: createLog({ level: 'silent', write: () => {} }).log,
  prompt: answering().prompt,
  operator: 'operator',
}

test('a text counts as success, and a report states its own result', async () => {
  const typed = { args: [], flags: new Set<string>() }
  const says = (result: string | { text: string; ok: boolean }) =>
    runCommand(defineCommand({ name: 'x', summary: 'x', data: 'none', run: async () => result }), typed, CONTEXT)

  expect(await says('fini')).toEqual({ text: 'fini', ok: true })
  expect(await says({ text: 'raté', ok: false })).toEqual({ text: 'raté', ok: false })
})

test('without data, only a command that creates data leaves any', async () => {
  const folder = await temporaryFolder()
  const data = (name: string) => ({ PANEL_DATA_DIR: join(folder, name) })

  const [existing, none, made] = await Promise.all([
    runProgram(data('existing'), 'users'),
    runProgram(data('none'), 'restore', join(folder, 'backup.db')),
    runProgram(data('made'), 'setup'),
  ])

  expect(existing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('aucune base de données') })
  expect(none).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('il n’y a pas de fichier') })
  expect(made).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('interrompu') })
  expect(await readdir(folder)).toEqual(['made'])
  expect((await readdir(join(folder, 'made'))).sort()).toEqual(['panel.db', 'secret.key'])
})

test.each([
  ['bogus', '--help'],
  ['-h', 'bogus'],
])(
  '%s %s asks for help for an unknown command, and gets an error',
  async (...words) => {
    expect(await runProgram({}, ...words)).toEqual({
      code: 2,
      stdout: '',
      stderr: 'ops-panel : commande inconnue « bogus ». Voir ops-panel --help.\n',
    })
  },
  60_000,
)
