import { setTimeout as pause } from 'node:timers/promises'
import { script } from '../../runtime/command.ts'
import { Failure } from '../../runtime/errors.ts'
import type { Host } from '../../runtime/host.ts'
import type { HostTerminal, TerminalOptions } from '../../runtime/host-terminal.ts'
import { SshError } from '../../runtime/ssh-connection.ts'
import { translate } from '../../runtime/translate.ts'
import { CONTAINER_TOOL, inContainer } from '../updates/containers.ts'
import type { Target } from '../updates/target.ts'
import type { Exit } from './control.ts'
import type { Ended } from './relay.ts'

type Place = Exclude<Target, { kind: 'all' }>

/**
 * Prints its two arguments as one word, on a line, then becomes root's login shell inside a container, as a login would begin it: the language is the
 * container's own, and nothing of the host's environment is left. Where there is no bash, it is sh.
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

/** Why there is no shell, in French. Throws what is no fault of the host's, or of its settings. */
export async function whyNone(host: Host, target: Place, error: unknown): Promise<string> {
  if (!(error instanceof SshError || error instanceof Failure)) throw error
  // An id that cannot be one has been refused by the tool, in English.
  if (target.kind === 'container' && error instanceof SshError && error.reason === 'lost') {
    const state = await stateOf(host, target.id)
    if (state === 'missing') return `Le conteneur ${target.id} n’existe pas.`
    if (state === 'stopped') return `Le conteneur ${target.id} n’est pas démarré.`
  }
  return translate(error).message
}

/** What is told of the end of a shell. Nobody hears of it once the client is gone: then the host is not asked. */
export async function whyEnded(host: Host, target: Place, ended: Ended, gone: AbortSignal): Promise<Exit> {
  if (ended.by === 'client') return { code: null }
  if (ended.by === 'idle')
    return { code: null, reason: `Le terminal a été fermé après ${ended.minutes} min d’inactivité.` }
  // Whoever asks then waits for a new connection.
  if (ended.by === 'host') return { code: null, reason: 'La connexion avec l’hôte a été perdue.' }
  const { code, signal } = ended
  // By Ctrl-D, with the code of the last command, perhaps; or because the container is no more.
  if (target.kind === 'container' && code !== 0 && (await isStopped(host, target.id, code, gone)))
    return { code, reason: 'Le conteneur s’est arrêté.' }
  return { code, reason: signal && `Le shell a été arrêté par un signal (${signal}).` }
}

/** 128 and the number of HUP, KILL or TERM, which is how a shell ends with its container. */
const KILLED = [null, 129, 137, 143]
/** The container tool runs a moment longer than what it has killed; a clean-up of the storage takes a second or two. */
const STOPPING_MS = 4_000
const AGAIN_MS = 250

async function isStopped(host: Host, id: string, code: number | null, gone: AbortSignal): Promise<boolean> {
  const until = performance.now() + STOPPING_MS
  const left = new Promise<'gone'>((resolve) => {
    gone.addEventListener('abort', () => resolve('gone'), { once: true })
  })
  while (!gone.aborted) {
    const withinMs = Math.max(AGAIN_MS, until - performance.now())
    const state = await Promise.race([stateOf(host, id, withinMs), left])
    if (state !== 'running') return state === 'stopped'
    if (!KILLED.includes(code) || performance.now() + AGAIN_MS > until) break
    await Promise.race([pause(AGAIN_MS), left])
  }
  return false
}

/** A person waits for this; the tool takes a second on a busy host. */
const STATE_MS = 10_000

/** What the container tool says of a container; undefined when it says nothing of use. */
async function stateOf(
  host: Host,
  id: string,
  timeoutMs = STATE_MS,
): Promise<'running' | 'stopped' | 'missing' | undefined> {
  try {
    const command = [CONTAINER_TOOL, 'status', id] as const
    const { code, stdout, stderr } = await host.exec(command, { rights: 'command', verb: ['status', id], timeoutMs })
    if (code === 0) return stdout.includes('running') ? 'running' : 'stopped'
    return /does not exist|Parameter verification failed/.test(stderr) ? 'missing' : undefined
  } catch (error) {
    if (error instanceof SshError || error instanceof Failure) return undefined
    throw error
  }
}
