import { PROTECTED } from '../functions/protection/protected-script.ts'
import type { User } from './account.ts'
import { apt, aptGet } from './apt.ts'
import { createPct, type Run } from './pct.ts'
import { hasApt } from './place.ts'
import { type Exit, fail, type Process, type Program } from './process.ts'
import { pvesm, rm, vzdump } from './protection/backups.ts'
import { lvs, zpool } from './protection/pools.ts'
import { createProtected } from './protection/protected.ts'
import { systemctl } from './reboot.ts'
import { createScripts } from './scripts.ts'
import { createShell } from './sh.ts'
import { stty } from './shell.ts'
import { assignment, createSudo } from './sudo.ts'

/** Returns a function that runs any program of the imitated host, given as words. */
export function createPrograms(): Run {
  const run = (words: readonly string[], process: Process): Exit => {
    process.signal.throwIfAborted()
    const [name = '', ...args] = words
    return (
      process.machine.override?.(words, process) ?? find(name, process)?.(args, process) ?? Promise.resolve(undefined)
    )
  }

  const scripts = createScripts(run)
  const sh: Program = async (args, process) => {
    // The program of a job that gives the other words the functions of the package managers.
    if (args[0] !== undefined && args[0] === process.program?.file) return (await run(args.slice(1), process)) ?? 127
    const [option, text = '', , ...rest] = args
    const script = option === '-c' ? scripts.get(text) : undefined
    if (script) return script(rest, process)
    // Any other script: only the word that the message names is read.
    const word = /\S+/.exec(option === '-c' ? text : (option ?? ''))?.[0] ?? ''
    return fail(process, `sh: 1: ${word}: not found\n`, 127)
  }

  const protect = createProtected(createShell(run))
  const perl: Program = async ([file, ...rest], process) => {
    if (file === process.program?.file && process.program?.text.endsWith(PROTECTED)) return protect(rest, process)
    return fail(process, "Can't open perl script: No such file or directory\n", 2)
  }

  const env: Program = async (args, process) => {
    const rest = [...args]
    const environment: Record<string, string> = { ...process.env }
    for (let match = assignment(rest[0]); match; match = assignment(rest[0])) {
      environment[match.name] = match.value
      rest.shift()
    }
    const code = await run(rest, { ...process, env: environment })
    return code ?? fail(process, `env: '${rest[0] ?? ''}': No such file or directory\n`, 127)
  }

  /** `timeout -k <s> <s> <command>…`: no imitated command takes that long. */
  const timeout: Program = async ([_option, _kill, _seconds, ...command], process) =>
    (await run(command, process)) ?? 127

  const everywhere = new Map<string, Program>([
    ['true', async () => 0],
    ['id', id],
    ['date', date],
    ['sh', sh],
    ['stty', stty],
    ['/bin/sh', sh],
    ['env', env],
  ])
  const debian = new Map<string, Program>([
    ['apt', apt],
    // The imitation completes every command, so no run is ever interrupted.
    ['dpkg-query', async () => 0],
    ['apt-get', aptGet],
    ['/usr/bin/apt-get', aptGet],
  ])
  const pct = createPct(run)
  const onHost = new Map<string, Program>([
    ['sudo', createSudo(run)],
    ['/usr/bin/systemctl', systemctl],
    ['timeout', timeout],
    ['uname', uname],
    ['/usr/sbin/pct', pct],
    ['perl', perl],
    ['/usr/bin/vzdump', vzdump],
    ['/usr/sbin/pvesm', pvesm],
    ['rm', rm],
    ['lvs', lvs],
    ['zpool', zpool],
  ])

  const find = (name: string, { place, user }: Process): Program | undefined => {
    const own = (place.id === 'host' ? onHost.get(name) : undefined) ?? (hasApt(place) ? debian.get(name) : undefined)
    // Only root's search path contains /usr/sbin.
    return own ?? everywhere.get(name) ?? (name === 'pct' && place.id === 'host' && user.uid === 0 ? pct : undefined)
  }

  return async (words, process) => run(words, process)
}

/** `id`, `id -u`, `id -un` and `id -Gn`, with or without `z`, of the account itself or of another. */
async function id(args: readonly string[], process: Process): Promise<number> {
  const option = args[0]?.startsWith('-') && args[0] !== '--' ? args[0] : undefined
  const rest = args.slice(option === undefined ? 0 : 1)
  const names = rest[0] === '--' ? rest.slice(1) : rest
  const [name] = names
  if (names.length > 1) return fail(process, `id: extra operand '${names[1]}'\n`, 1)
  const user = name === undefined ? process.user : findUser(name, process)
  if (!user) return fail(process, `id: '${name}': no such user\n`, 1)
  const [group = user.name] = user.groups
  const isNul = option?.endsWith('z') === true
  const print = (...words: string[]) => process.stdout(isNul ? `${words.join('\0')}\0` : `${words.join(' ')}\n`)
  const asked = isNul ? option.slice(0, -1) : option
  if (asked === '-u') await print(`${user.uid}`)
  else if (asked === '-un') await print(user.name)
  else if (asked === '-Gn') await print(...user.groups)
  else if (option === undefined)
    await process.stdout(`uid=${user.uid}(${user.name}) gid=${user.uid}(${group}) groups=${user.groups.join(',')}\n`)
  else return fail(process, `id: invalid option -- '${option.replace(/^-+/, '')}'\n`, 1)
  return 0
}

/** `uname -n`. */
async function uname(_args: readonly string[], process: Process): Promise<number> {
  await process.stdout(`${process.machine.name}\n`)
  return 0
}

function findUser(name: string, { machine, user }: Process): User | undefined {
  return machine.users.get(name) ?? (name === user.name ? user : undefined)
}

/** The seconds since the epoch, in every requested format. */
async function date(_args: readonly string[], process: Process): Promise<number> {
  await process.stdout(`${Math.floor(Date.now() / 1000)}\n`)
  return 0
}
