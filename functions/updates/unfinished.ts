import { AnswerTooLong, type Command, type Host, type Output, script } from '../../ssh/ssh.ts'
import { inContainer } from '../hypervisor/pct.ts'
import { verifiedOf } from '../managers/managed-lines.ts'
import { isManaged, managerText } from '../managers/managed-scripts.ts'
import { FIND_MANAGER, type ManagerName, PROGRAMS } from '../managers/manager.ts'
import { withoutControls } from '../managers/sections.ts'
import { LIST_UNFINISHED, parseUnfinished } from './apt.ts'

/** The rest that an upgrade has left in one place: packages or messages, null where the program cannot tell them. */
export interface Unfinished {
  by: 'dpkg' | Exclude<ManagerName, 'apt'>
  left: string[] | null
}

const TELL_MANAGER = `${FIND_MANAGER}echo "manager $manager"\n`

/** Prints what the manager, whose functions come before this text, has left unfinished, after the line of `TELL_MANAGER`. */
const VERIFY = `sudo=
command -v "\${manager}_verify" >/dev/null 2>&1 || exit 127
"$manager"_verify </dev/null 2>/dev/null | head -c 4000000 | tr '|\\t' '/|'
`

/**
 * Tells the manager and what it has left unfinished, with the functions of every manager before this text; of dpkg, the
 * list that `LIST_UNFINISHED` prints. The host helper contains it: any change, even of a comment, needs a new
 * `HELPER_VERSION`.
 */
export const UNFINISHED = `${TELL_MANAGER}[ "$manager" != apt-get ] || exec dpkg-query -W -f '${LIST_UNFINISHED.at(-1)}'
${VERIFY}`

/** A command that is missing. */
const MISSING = 127

/**
 * Returns what is unfinished on the host (`host`) or in a container; undefined when it does not answer, or answers too
 * much. Rejects like `exec`.
 */
export async function unfinishedIn(place: string, host: Host): Promise<Unfinished | undefined> {
  const ask = (command: Command): Promise<Output> =>
    place === 'host'
      ? host.exec(command)
      : host.exec(inContainer(place, command), { rights: 'command', verb: ['unfinished', place] })
  try {
    const first = await ask(LIST_UNFINISHED)
    const known = managerOf(first.stdout)
    if (known !== undefined) return first.code === 0 ? await leftBy(known, first.stdout) : undefined
    const ofDpkg: Unfinished | undefined =
      first.code === 0 ? { by: 'dpkg', left: await parseUnfinished(first.stdout) } : undefined
    // A dpkg that lists no package is a tool of a system with another manager.
    if (ofDpkg ? first.stdout !== '' : first.code !== MISSING) return ofDpkg
    const manager = managerOf((await ask(script(TELL_MANAGER, 'ops-panel-manager'))).stdout) ?? null
    if (!isManaged(manager)) return ofDpkg
    const { stdout, code } = await ask(
      script(`${managerText(manager)}${TELL_MANAGER}${VERIFY}`, 'ops-panel-unfinished'),
    )
    return code === 0 ? await leftBy(manager, stdout) : { by: manager, left: null }
  } catch (error) {
    if (error instanceof AnswerTooLong) return undefined
    throw error
  }
}

/** Returns the manager in the line `manager <program>` at the beginning. */
function managerOf(stdout: string): ManagerName | undefined {
  return PROGRAMS.get(/^manager (\S{1,20})(?:\n|$)/.exec(stdout)?.[1] ?? '')
}

async function leftBy(manager: ManagerName, stdout: string): Promise<Unfinished> {
  const lines = stdout.trimEnd().split('\n').slice(1).map(withoutControls)
  if (manager === 'apt') return { by: 'dpkg', left: await parseUnfinished(lines.join('\n')) }
  const verified = await verifiedOf(lines)
  if (verified?.code !== 0) return { by: manager, left: null }
  return { by: manager, left: [...verified.unfinished, ...verified.broken].map(({ message }) => message) }
}
