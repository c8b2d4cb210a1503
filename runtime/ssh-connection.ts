import type { Client, ClientChannel, PseudoTtyOptions } from 'ssh2'
import { type Command, quote } from './command.ts'
import { fingerprint, keyAlgorithms, matches } from './host-key.ts'
import type { SshAccount } from './settings.ts'
import { passwordMethods } from './ssh-password.ts'
import { createSshSocket } from './ssh-socket.ts'

/**
 * Why the host could not be used: `throttled` is a host that takes no more connections for now, `refused` a channel that it
 * would not open, `unanswered` one that it has been asked for and may still open. The message is French where it is ours.
 */
export class SshError extends Error {
  override readonly name = 'SshError'
  readonly reason:
    | 'bad_credentials'
    | 'unreachable'
    | 'throttled'
    | 'host_key_changed'
    | 'refused'
    | 'unanswered'
    | 'lost'
  /** The key that answered, when one did before it came to this. */
  readonly hostKey: string | undefined
  /** Whether the host may have begun what it was asked to do, before it came to this. */
  readonly mayHaveBegun: boolean

  constructor(reason: SshError['reason'], message: string, options: SshErrorOptions = {}) {
    super(message, options)
    this.reason = reason
    this.hostKey = options.hostKey
    this.mayHaveBegun = options.mayHaveBegun ?? (reason === 'lost' || reason === 'unanswered')
  }
}

interface SshErrorOptions extends ErrorOptions {
  hostKey?: string | undefined
  mayHaveBegun?: boolean
}

export interface SshConnection {
  /** The key that answered, as `ssh-ed25519 SHA256:…`. */
  hostKey: string
  /** What the server says it is, as `SSH-2.0-OpenSSH_10.0p2 Debian-7`. */
  identification: string
  /**
   * Opens a channel and starts a command in it, in a terminal perhaps; without a command, the account's login shell.
   * Rejects with an SshError when the connection is lost meanwhile.
   */
  open(command: Command | undefined, pty?: PseudoTtyOptions): Promise<ClientChannel>
  /** Calls back, with the reason, when the connection has ended; at once when it has. Returns the way out. */
  onClosed(listener: (error: SshError) => void): () => void
  end(): void
  /** Ends it at once, without a word to the host. */
  destroy(): void
}

/** PAM answers a wrong password after up to 4.2 s, and several may wait in line: time for all of a handshake. */
const READY_MS = 20_000
/** A channel on an open connection takes milliseconds; a host that needs longer than this is in trouble. */
const OPEN_MS = 20_000
/** Three unanswered in a row end the connection: a dead host is noticed within a minute. */
const KEEPALIVE_MS = 15_000

/** What OpenSSH says since 9.8, in clear, to whom it turns away: after too many wrong passwords, or in a crowd. */
const TURNED_AWAY = 'Not allowed at this time'

/**
 * Opens an authenticated connection: by password, or by keyboard-interactive where the host offers no password. When
 * a host key is pinned, its type is asked for and no other key is accepted. `signal` gives up, also afterwards. `onIdentified` is told what
 * the server says it is, before it is told who asks.
 */
export async function connect(
  { host, port, username, password, hostKey }: SshAccount,
  signal?: AbortSignal,
  onIdentified: (identification: string) => void = () => {},
): Promise<SshConnection> {
  // Loaded now, because it takes a tenth of a start, and nothing waits for the host then.
  const ssh2 = await import('ssh2')
  const client = new ssh2.Client()
  const { socket, ciphered, greeting } = createSshSocket()
  const state: { presented: string; authenticating: boolean; ready: boolean; ended?: SshError } = {
    presented: '',
    authenticating: false,
    ready: false,
  }
  const listeners = new Set<(error: SshError) => void>()
  const onClosed = (listener: (error: SshError) => void) => {
    if (state.ended) listener(state.ended)
    else listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  const identification = () => greeting().find((line) => line.startsWith('SSH-')) ?? ''
  /** What it means that there is no connection; sshd says why it turns somebody away before it says what it is. */
  const unreachable = (message: string, cause?: Error) =>
    identification() === '' && greeting().includes(TURNED_AWAY)
      ? new SshError(
          'throttled',
          'l’hôte refuse pour l’instant les connexions de ce service, après des mots de passe faux ou trop de connexions à la fois',
          { cause },
        )
      : new SshError('unreachable', message, { cause })
  const methods = passwordMethods({ username, password }, () => {
    state.authenticating = true
  })

  return new Promise((resolve, reject) => {
    const settle = (error: SshError) => {
      if (state.ended) return
      state.ended = error
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      client.destroy()
      // What kept ssh2 from beginning kept it from having the socket, too.
      socket.destroy()
      reject(error)
      for (const listener of listeners) listener(error)
      listeners.clear()
    }
    const abort = () => settle(new SshError('lost', 'le service s’arrête'))
    signal?.addEventListener('abort', abort)
    const timer = setTimeout(
      () => settle(new SshError('unreachable', `pas de réponse de ${host}:${port} en ${READY_MS / 1000} s`)),
      READY_MS,
    )
    client.on('ready', () => {
      state.ready = true
      clearTimeout(timer)
      resolve({
        hostKey: state.presented,
        identification: identification(),
        open: (command, pty) => openChannel(client, onClosed, command, pty),
        onClosed,
        end: () => client.end(),
        destroy: () => settle(new SshError('lost', 'la connexion a été fermée')),
      })
    })
    client.on('error', (error: Error & { level?: string }) => {
      if (state.ready) {
        settle(new SshError('lost', `la connexion a été perdue (${error.message})`, { cause: error }))
      } else if (state.presented !== '' && !matches(state.presented, hostKey)) {
        const message = `la clé de l’hôte a changé : ${state.presented} au lieu de ${hostKey}`
        settle(new SshError('host_key_changed', message, { hostKey: state.presented }))
      } else if (error.level === 'client-authentication') {
        settle(
          new SshError('bad_credentials', `authentification refusée pour ${username}`, {
            cause: error,
            hostKey: state.presented,
          }),
        )
      } else {
        settle(unreachable(error.message, error))
      }
    })
    // An account that has expired gets neither `ready` nor `error`: after its password was accepted, the end.
    const ended = () => {
      if (state.authenticating)
        settle(
          new SshError('bad_credentials', `l’hôte a mis fin à la connexion de ${username} (compte expiré ?)`, {
            hostKey: state.presented,
          }),
        )
      else settle(unreachable('la connexion a été coupée avant l’échange de clés'))
    }
    client.on('ready', () => {
      client.off('close', ended)
      client.off('end', ended)
      const lost = () => settle(new SshError('lost', 'la connexion a été perdue'))
      client.on('close', lost)
      client.on('end', lost)
    })
    client.on('close', ended)
    client.on('end', ended)
    client.on('handshake', ({ sc }) => ciphered(sc.cipher))
    if (signal?.aborted) return abort()
    try {
      socket.connect({ host, port })
      client.connect({
        sock: socket,
        username,
        readyTimeout: 0,
        keepaliveInterval: KEEPALIVE_MS,
        keepaliveCountMax: 3,
        authHandler: methods,
        hostVerifier: (key: Buffer) => {
          state.presented = fingerprint(key)
          onIdentified(identification())
          return matches(state.presented, hostKey)
        },
        algorithms: {
          serverHostKey: keyAlgorithms(hostKey),
          cipher: { append: [], prepend: ['aes128-gcm@openssh.com'], remove: [] },
        },
      })
      client.setNoDelay(true)
    } catch (cause) {
      settle(new SshError('unreachable', cause instanceof Error ? cause.message : String(cause), { cause }))
    }
  })
}

function openChannel(
  client: Client,
  onClosed: SshConnection['onClosed'],
  command: Command | undefined,
  pty?: PseudoTtyOptions,
): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    const text = command && quote(command)
    let late = false
    const settle = () => {
      clearTimeout(timer)
      stopWatching()
    }
    const fail = (error: Error) => {
      late = true
      reject(error)
    }
    const timer = setTimeout(() => fail(new SshError('unanswered', 'l’hôte n’a pas ouvert de canal à temps')), OPEN_MS)
    const stopWatching = onClosed((error) => {
      clearTimeout(timer)
      fail(error)
    })
    try {
      const opened = (error: Error | undefined, channel: ClientChannel) => {
        settle()
        if (error)
          fail(new SshError('refused', `l’hôte refuse d’exécuter une commande (${error.message})`, { cause: error }))
        else if (late) channel.close()
        else resolve(channel)
      }
      if (text === undefined) client.shell(pty ?? {}, opened)
      else client.exec(text, pty ? { pty } : {}, opened)
    } catch (cause) {
      settle()
      fail(new SshError('lost', cause instanceof Error ? cause.message : String(cause), { cause }))
    }
  })
}
