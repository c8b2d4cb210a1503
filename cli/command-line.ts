import { parseArgs } from 'node:util'
import type { Storage } from '../db/storage.ts'
import { type BareContext, type CliCommand, type CommandInput, type Report, UsageError } from '../runtime/command.ts'

/** Finds the command that the words name, with its arguments and flags. Throws a UsageError. */
export function parseCommandLine(
  commands: readonly CliCommand[],
  typed: readonly string[],
): { command: CliCommand; typed: CommandInput } {
  // After `--` everything is a word, also when it begins with a dash.
  const end = typed.includes('--') ? typed.indexOf('--') : typed.length
  const before = typed.slice(0, end)
  const words = [...before.filter((word) => !word.startsWith('-')), ...typed.slice(end + 1)]
  const command = named(commands, words)
  if (!command) throw new UsageError(suggestion(commands, words))
  const given = words.slice(command.name.split(' ').length)
  const args = given.join(' ') === 'list' && listsGroup(commands, command) ? [] : given
  const wanted = command.args ?? []
  const required = wanted.filter((arg) => !arg.endsWith('?')).length
  if (args.length < required || args.length > wanted.length) throw new UsageError(`il faut : ${usage(command)}.`)
  const options = Object.fromEntries(
    Object.keys(command.flags ?? {}).map((flag) => [flag, { type: 'boolean' as const }]),
  )
  try {
    const { values } = parseArgs({ args: before.filter((word) => word.startsWith('-')), options, strict: true })
    return { command, typed: { args, flags: new Set(Object.keys(values)) } }
  } catch {
    const known = Object.keys(options).map((flag) => `--${flag}`)
    throw new UsageError(
      `« ${command.name} » ${known.length === 0 ? 'n’a pas d’option' : `n’accepte que ${known.join(', ')}`}.`,
    )
  }
}

/** The command whose name the words begin with. Of `users` and `users bar`, it is the longer one where both match. */
function named(commands: readonly CliCommand[], words: readonly string[]): CliCommand | undefined {
  const matching = commands.filter(({ name }) => `${words.join(' ')} `.startsWith(`${name} `))
  return matching.reduce<CliCommand | undefined>(
    (longest, each) => (longest && longest.name.length >= each.name.length ? longest : each),
    undefined,
  )
}

/** Whether a command lists by its name alone what others work on, as `tokens` does; people also type `tokens list`. */
function listsGroup(commands: readonly CliCommand[], { name, args = [] }: CliCommand): boolean {
  return args.length === 0 && commands.some((other) => other.name.startsWith(`${name} `))
}

function suggestion(commands: readonly CliCommand[], words: readonly string[]): string {
  const [first] = words
  if (first === undefined) return 'une option seule n’est pas une commande.'
  const near = commands.filter(({ name }) => name.split(' ')[0] === first)
  const typed = words.join(' ')
  if (near.length === 0) return `commande inconnue « ${typed} ».`
  return `commande inconnue « ${typed} ». Possibles : ${near.map(usage).join(', ')}.`
}

function usage({ name, args = [] }: CliCommand): string {
  return [name, ...args.map((arg) => (arg.endsWith('?') ? `[${arg.slice(0, -1)}]` : `<${arg}>`))].join(' ')
}

/** Returns help about the command that the words name, or about all that begin with the first word, if any. */
export function helpFor(commands: readonly CliCommand[], words: readonly string[]): string | undefined {
  const [first] = words
  const alike = commands.filter(({ name }) => name.split(' ')[0] === first)
  const command = words.length === 1 && alike.length > 1 ? undefined : named(commands, words)
  const matching = command ? [command] : alike
  if (matching.length === 0) return undefined
  const how = command ? `${usage(command)}${command.flags ? ' [options]' : ''}` : `${first} …`
  const all = 'Toutes les commandes et les variables : ops-panel --help'
  return `Usage : ops-panel ${how}\n\n${describeCommands(matching)}\n\n${all}\n`
}

/** Returns a line for each command and each flag, for `--help`. */
export function describeCommands(commands: readonly CliCommand[]): string {
  const lines = commands.flatMap((command) => [
    [usage(command), command.summary],
    ...Object.entries(command.flags ?? {}).map(([flag, text]) => [`  --${flag}`, text]),
  ])
  const width = Math.max(...lines.map(([left = '']) => left.length)) + 2
  return lines.map(([left = '', right = '']) => `  ${left.padEnd(width)}${right}`).join('\n')
}

/** Runs a command. Only here nothing checks that the context contains the data that the command declares. */
export async function runCommand(
  command: CliCommand,
  typed: CommandInput,
  context: BareContext & Partial<Storage>,
): Promise<Report> {
  const result = await command.run(typed, context as never)
  return typeof result === 'string' ? { text: result, ok: true } : result
}
