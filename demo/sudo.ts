import { ROOT, type User } from './account.ts'
import type { Run } from './pct.ts'
import { fail, type Process, pause } from './process.ts'

interface Request {
  /** `-n`: never ask. */
  silent: boolean
  /** `-S`: the password comes on stdin. */
  fromStdin: boolean
  /** `-l`: only say whether the command may run. */
  list: boolean
  prompt: string | undefined
  environment: Record<string, string>
  command: string[]
}

const RULE = ['apt-get', '/usr/bin/apt-get', 'pct', '/usr/sbin/pct']
/** PAM's delay after a wrong password, shortened. */
const WRONG_MS = 300

/** sudo with `-n`, `-S`, `-k`, `-p`, `-l` and assignments; it asks for the password every time. */
export function createSudo(run: Run) {
  return async (args: readonly string[], process: Process): Promise<number> => {
    const request = parse(args)
    const [program] = request.command
    if (program === undefined) return args.includes('-k') ? 0 : fail(process, 'usage: sudo -h | -K | -k | -V\n', 1)
    const { user } = process
    const allowed = isAllowed(user, program)
    if (!(user.uid === 0 || user.sudo === 'nopasswd' || (user.sudo === 'rule' && (allowed || request.list)))) {
      const refused = await authenticate(request, process)
      if (refused !== undefined) return refused
    }
    if (!allowed) return fail(process, denial(user, request, process.machine.name), 1)
    if (request.list) {
      await process.stdout(`${request.command.join(' ')}\n`)
      return 0
    }
    const variables = Object.keys(request.environment).filter((name) => !/^(LC_\w+|LANG|LANGUAGE)$/.test(name))
    if (user.sudo === 'rule' && variables.length > 0) {
      const sorry = 'sorry, you are not allowed to set the following environment variables'
      return fail(process, `sudo: ${sorry}: ${variables.join(', ')}\n`, 1)
    }
    const code = await run(request.command, { ...process, user: ROOT, env: { ...process.env, ...request.environment } })
    return code ?? fail(process, `sudo: ${program}: command not found\n`, 1)
  }
}

function parse(args: readonly string[]): Request {
  const rest = [...args]
  const flags = new Set<string>()
  let prompt: string | undefined
  while (rest[0]?.startsWith('-')) {
    const flag = rest.shift() ?? ''
    if (flag === '--') break
    // A doubled percent sign is a literal one: sudo(8).
    if (flag === '-p') prompt = rest.shift()?.replaceAll('%%', '%')
    else for (const letter of flag.slice(1)) flags.add(letter)
  }
  const environment: Record<string, string> = {}
  for (let match = assignment(rest[0]); match; match = assignment(rest[0])) {
    environment[match.name] = match.value
    rest.shift()
  }
  return { silent: flags.has('n'), fromStdin: flags.has('S'), list: flags.has('l'), prompt, environment, command: rest }
}

/** Reads `NAME=value`; undefined for any other word. */
export function assignment(word: string | undefined): { name: string; value: string } | undefined {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word ?? '') ?? []
  return name === undefined || value === undefined ? undefined : { name, value }
}

function isAllowed(user: User, program: string): boolean {
  if (user.uid === 0 || user.sudo === 'password' || user.sudo === 'nopasswd') return true
  return user.sudo === 'rule' && RULE.includes(program)
}

function denial({ name, sudo = 'none' }: User, { list, command }: Request, host: string): string {
  if (sudo !== 'none')
    return list ? '' : `Sorry, user ${name} is not allowed to execute '${command.join(' ')}' as root on ${host}.\n`
  return list ? `Sorry, user ${name} may not run sudo on ${host}.\n` : `${name} is not in the sudoers file.\n`
}

/** Asks for the password, three times at most; the exit code when it was not given. */
async function authenticate(request: Request, process: Process): Promise<number | undefined> {
  const { user, stdin, stderr, signal } = process
  if (request.silent) return fail(process, 'sudo: a password is required\n', 1)
  if (!request.fromStdin) {
    const hint = 'either use the -S option to read from standard input or configure an askpass helper'
    return fail(
      process,
      `sudo: a terminal is required to read the password; ${hint}\nsudo: a password is required\n`,
      1,
    )
  }
  for (let wrong = 0; ; wrong += 1) {
    if (wrong === 3) return fail(process, 'sudo: 3 incorrect password attempts\n', 1)
    await stderr(request.prompt ?? `[sudo] password for ${user.name}: `)
    const password = await stdin.readLine()
    if (password === user.password) return undefined
    if (password === undefined) {
      const attempts =
        wrong === 0 ? 'a password is required' : `${wrong} incorrect password attempt${wrong > 1 ? 's' : ''}`
      return fail(process, `sudo: no password was provided\nsudo: ${attempts}\n`, 1)
    }
    await pause(WRONG_MS, signal)
    if (wrong < 2) await stderr('Sorry, try again.\n')
  }
}
