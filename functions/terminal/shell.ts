import { setTimeout as pause } from 'node:timers/promises'
import { Failure, translate } from '../../runtime/errors.ts'
import { type Host, type HostTerminal, script, SshError, type TerminalOptions } from '../../ssh/ssh.ts'
import { inContainer, stateOfContainer } from '../hypervisor/pct.ts'
import type { Target } from '../hypervisor/target.ts'
import type { Exit } from './control.ts'
import type { Ended } from './relay.ts'

type Place = Exclude<Target, { kind: 'all' }>

/**
 * Writes its two arguments as one word on a line, then becomes root's login shell inside a container. The shell starts
 * as at a login: with the container's language, and without the host's environment. Without bash it is sh.
 */
export const SHELL = `
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
lang=$(LANG=; . /etc/default/locale; printf %s "$LANG") 2>/dev/null
shell=$(command -v bash) || shell=$(command -v sh) || shell=/bin/sh
stty iutf8 2>/dev/null
cd /root 2>/dev/null || cd /
echo "$1$2"
exec env -i HOME=/root USER=root LOGNAME=root SHELL="$shell" PATH="$PATH" TERM=xterm-256color LANG="\${lang:-C.UTF-8}" "$shell" -l
`

/** Opens a shell: the service account's on the host, root's in a container. */
export function openShell(host: Host, target: Place, options: TerminalOptions): Promise<HostTerminal> {
  if (target.kind === 'host') return host.terminal(options)
  return host.terminal({
    ...options,
    enter: (...halves) => inContainer(target.id, script(SHELL, 'ops-panel-shell', ...halves)),
  })
}

/** Returns why no shell could be opened, in French. Rethrows errors that neither the host nor its settings caused. */
export async function whyNone(host: Host, target: Place, error: unknown): Promise<string> {
  if (!(error instanceof SshError || error instanceof Failure)) throw error
  // The container tool refuses an invalid id with an English message.
  if (target.kind === 'container' && error instanceof SshError && error.reason === 'lost') {
    const state = await stateOfContainer(host, target.id)
    if (state === 'missing') return `Le conteneur ${target.id} n’existe pas.`
    if (state === 'stopped') return `Le conteneur ${target.id} n’est pas démarré.`
  }
  return translate(error).message
}

/**
 * Returns the exit frame's content. Does not ask the host when the client has left, because nobody reads the answer.
 */
export async function whyEnded(host: Host, target: Place, ended: Ended, gone: AbortSignal): Promise<Exit> {
  if (ended.by === 'client') return { code: null }
  if (ended.by === 'idle')
    return { code: null, reason: `Le terminal a été fermé après ${ended.minutes} min d’inactivité.` }
  // Asking the host now would wait for a new connection.
  if (ended.by === 'host') return { code: null, reason: 'La connexion avec l’hôte a été perdue.' }
  const { code, signal } = ended
  // The user may have pressed Ctrl-D, which returns the last command's code, or the container may have stopped.
  if (target.kind === 'container' && code !== 0 && (await isStopped(host, target.id, code, gone)))
    return { code, reason: 'Le conteneur s’est arrêté.' }
  return { code, reason: signal && `Le shell a été arrêté par un signal (${signal}).` }
}

/** 128 plus the number of HUP, KILL or TERM: the exit codes of a shell that ends with its container. */
const KILLED = [null, 129, 137, 143]
/**
 * The container tool runs a moment longer than the processes it kills. Cleaning up the storage takes a second or two.
 */
const STOPPING_MS = 4_000
const AGAIN_MS = 250

async function isStopped(host: Host, id: string, code: number | null, gone: AbortSignal): Promise<boolean> {
  const until = performance.now() + STOPPING_MS
  const left = new Promise<'gone'>((resolve) => {
    gone.addEventListener('abort', () => resolve('gone'), { once: true })
  })
  while (!gone.aborted) {
    const withinMs = Math.max(AGAIN_MS, until - performance.now())
    const state = await Promise.race([stateOfContainer(host, id, withinMs), left])
    if (state !== 'running') return state === 'stopped'
    if (!KILLED.includes(code) || performance.now() + AGAIN_MS > until) break
    await Promise.race([pause(AGAIN_MS), left])
  }
  return false
}
