/*
 * Opens one SSH connection and translates its failures: a wrong password, or a throttled, changed or unreachable host.
 */

import type { Client, ClientChannel, PseudoTtyOptions } from 'ssh2'
import { type Failure, OutsideError } from '../runtime/errors.ts'
import { sshFailure } from './codes.ts'
import { type Command, quote } from './command.ts'
import { fingerprint, keyAlgorithms, matches } from './host-key.ts'
import type { Ask } from './login/prompts.ts'
import type { SshAccount } from './settings.ts'
import { signInMethods } from './sign-in-methods.ts'
import { createSshSocket } from './socket.ts'

/**
 * Why the host could not be used. `no_passwords`: it takes keys only. `asks_more`: it asks more than a password, and nobody
 * can be asked. `password_expired`: a new one must be set first. `throttled`: the host accepts no more connections for
 * now. `refused`: it did not open a channel. `unanswered`: it did not respond to the open, and may still open the channel.
 * Our own messages are French.
 */
export class SshError extends OutsideError {
  override readonly name = 'SshError'
  readonly reason:
    | 'bad_credentials'
    | 'no_passwords'
    | 'asks_more'
    | 'password_expired'
    | 'unreachable'
    | 'throttled'
    | 'host_key_changed'
    | 'refused'
    | 'unanswered'
    | 'lost'
  /** The key that the host presented, if the handshake came that far. */
  readonly hostKey: string | undefined
  /** Whether the host may have begun to run the command before the error. */
  readonly mayHaveBegun: boolean

  constructor(reason: SshError['reason'], message: string, options: SshErrorOptions = {}) {
    super(message, options)
    this.reason = reason
    this.hostKey = options.hostKey
    this.mayHaveBegun = options.mayHaveBegun ?? (reason === 'lost' || reason === 'unanswered')
  }

  override toFailure(): Failure {
    return sshFailure('ssh_failed', { cause: this, values: { message: this.message } })
  }
}

interface SshErrorOptions extends ErrorOptions {
  hostKey?: string | undefined
  mayHaveBegun?: boolean
}

export interface SshConnection {
  /** The key that the host presented, as `ssh-ed25519 SHA256:…`. */
  hostKey: string
  /** The identification of the server, such as `SSH-2.0-OpenSSH_10.0p2 Debian-7`. */
  identification: string
  /**
   * Opens a channel and starts a command in it, optionally in a terminal; without a command, the account’s login
   * shell. Rejects with an SshError when the connection is lost meanwhile.
   */
  open(command: Command | undefined, pty?: PseudoTtyOptions): Promise<ClientChannel>
  /**
   * Calls back with the reason when the connection has ended, or at once if it has. Returns a function that
   * unsubscribes.
   */
  onClosed(listener: (error: SshError) => void): () => void
  end(): void
  /** Closes the connection at once, without notice to the host. */
  destroy(): void
}

/**
 * Time limit of the whole handshake: PAM rejects a wrong password after up to 4.2 s, and several checks may be
 * queued.
 */
const READY_MS = 20_000
/** Time limit for a channel on an open connection, which normally takes milliseconds. */
const OPEN_MS = 20_000
/** Three unanswered keepalives in a row end the connection: a dead host is noticed within a minute. */
const KEEPALIVE_MS = 15_000

/** Plain-text refusals of OpenSSH since 9.8: after too many wrong passwords, or with too many connections. */
const TURNED_AWAY = 'Not allowed at this time'
/** sshd waits for a person as long as its LoginGraceTime allows. */
const GONE_WHILE_ASKING = 'l’hôte a mis fin à la connexion avant la réponse'

/**
 * Opens an authenticated connection by the account’s key if it has one, else or then by its password. With a pinned host
 * key, requests its type and accepts no other key. `signal` closes the connection, also after it is open. `onIdentified`
 * receives the identification of the server before the user name is sent. `ask` answers what the host asks beyond the
 * password; while it does, the connection waits without a time limit of its own.
 */
export async function connect(
  { host, port, username, password, key, hostKey }: SshAccount,
  signal?: AbortSignal,
  onIdentified: (identification: string) => void = () => {},
  ask?: Ask,
): Promise<SshConnection> {
  // ssh2 is loaded here because its import takes a tenth of the start-up time and no start needs it.
  const ssh2 = await import('ssh2')
  const client = new ssh2.Client()
  const { socket, ciphered, greeting } = createSshSocket()
  const state = { presented: '', authenticating: false, asking: false, ready: false }
  let ended: SshError | undefined
  const listeners = new Set<(error: SshError) => void>()
  const onClosed = (listener: (error: SshError) => void) => {
    if (ended) listener(ended)
    else listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  const identification = () => greeting().find((line) => line.startsWith('SSH-')) ?? ''
  /** Maps a failed handshake to its reason. sshd sends a refusal before its identification. */
  const unreachable = (message: string, cause?: Error) =>
    identification() === '' && greeting().includes(TURNED_AWAY)
      ? new SshError(
          'throttled',
          'l’hôte refuse pour l’instant les connexions de ce service, après des mots de passe incorrects ou trop de connexions à la fois',
          { cause },
        )
      : new SshError('unreachable', message, { cause })

  return new Promise((resolve, reject) => {
    const methods = signInMethods(
      { username, password, key },
      {
        began() {
          state.authenticating = true
        },
        async ask(prompts) {
          const more = `l’hôte demande plus que le mot de passe de ${username}`
          if (!ask) throw new SshError('asks_more', more, { hostKey: state.presented })
          clearTimeout(timer)
          state.asking = true
          const answers = await ask(prompts)
          state.asking = false
          if (!ended) timer = awaitHost()
          return answers
        },
        giveUp(error) {
          const message = error instanceof Error ? error.message : String(error)
          settle(error instanceof SshError ? error : new SshError('asks_more', message, { cause: error }))
        },
      },
    )
    const settle = (error: SshError) => {
      if (ended) return
      ended = error
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      client.destroy()
      // An ssh2 that failed to start has not taken the socket either.
      socket.destroy()
      reject(error)
      for (const listener of listeners) listener(error)
      listeners.clear()
    }
    const abort = () => settle(new SshError('lost', 'le service s’arrête'))
    signal?.addEventListener('abort', abort)
    const silence = `pas de réponse de ${host}:${port} en ${READY_MS / 1000} s`
    const awaitHost = () => setTimeout(() => settle(new SshError('unreachable', silence)), READY_MS)
    let timer = awaitHost()
    client.on('ready', () => {
      if (!methods.isProven())
        return settle(new SshError('bad_credentials', `l’hôte accepte ${username} sans mot de passe : refusé ici`))
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
        const { reason, message } = methods.refusal()
        settle(new SshError(reason, message, { cause: error, hostKey: state.presented }))
      } else if (state.asking) {
        settle(new SshError('lost', GONE_WHILE_ASKING, { cause: error }))
      } else {
        settle(unreachable(error.message, error))
      }
    })
    // For an expired account, ssh2 emits neither `ready` nor `error`: the server accepts the password, then
    // disconnects.
    const onEnd = () => {
      if (state.asking) settle(new SshError('lost', GONE_WHILE_ASKING))
      else if (state.authenticating)
        settle(
          new SshError('bad_credentials', `l’hôte a mis fin à la connexion de ${username} (compte expiré ?)`, {
            hostKey: state.presented,
          }),
        )
      else settle(unreachable('la connexion a été coupée avant l’échange de clés'))
    }
    client.on('ready', () => {
      client.off('close', onEnd)
      client.off('end', onEnd)
      const lost = () => settle(new SshError('lost', 'la connexion a été perdue'))
      client.on('close', lost)
      client.on('end', lost)
    })
    client.on('close', onEnd)
    client.on('end', onEnd)
    client.on('change password', () => settle(new SshError('password_expired', methods.expired)))
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
        authHandler: methods.next,
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

/** A fingerprint that no key has, so that the handshake ends before anything is sent. */
const NO_KEY = 'SHA256:'

/**
 * Returns the key that the server presents, as `ssh-ed25519 SHA256:…`, without sending a name or a password. Rejects
 * with an SshError.
 */
export async function readHostKey(server: { host: string; port: number }): Promise<string> {
  try {
    const connection = await connect({ ...server, address: '', username: 'nobody', password: '', hostKey: NO_KEY })
    connection.destroy()
  } catch (error) {
    if (error instanceof SshError && error.reason === 'host_key_changed' && error.hostKey) return error.hostKey
    throw error
  }
  throw new SshError('unreachable', 'aucune clé n’a été présentée')
}
