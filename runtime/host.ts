import type { ClientChannel } from 'ssh2'
import { collect, drain, exitOf, inTime, limitedText, type Output, takeEach } from './channel.ts'
import { type Command, limited, script } from './command.ts'
import { type Elevation, elevate, HOST_HELPER, type Rights, type Verb } from './elevation.ts'
import { Failure } from './errors.ts'
import { matches } from './host-key.ts'
import {
  enterShell,
  entry,
  type HostTerminal,
  hostTerminal,
  MOST_TERMINALS,
  pseudoTerminal,
  type TerminalOptions,
} from './host-terminal.ts'
import { type Account, IDENTIFY_MS } from './identity.ts'
import { ELEVATION } from './identity-script.ts'
import { createInspector } from './inspector.ts'
import type { Log } from './log.ts'
import { createLoginCheck, type LoginCheck } from './login-check.ts'
import { createPacing } from './pacing.ts'
import { type Penalties, readPenalties } from './penalties.ts'
import { createReaders } from './readers.ts'
import type { Settings, SshAccount } from './settings.ts'
import { inForce, OutdatedError } from './settings-in-force.ts'
import { connect, type SshConnection, SshError } from './ssh-connection.ts'
import { createSshPool, type SshPool } from './ssh-pool.ts'
import { createSshdWatch } from './sshd-watch.ts'

export interface HostStream {
  /**
   * Hands stdout to `take` as it comes, and no more while a promise that it returned is pending. Resolves at its end, or once
   * the stream is closed; rejects with what `take` throws or rejects with. To be called once.
   */
  read(take: (bytes: Buffer) => Promise<void> | undefined): Promise<void>
  /** All of stderr and the exit code, once the command has ended. Rejects when the connection is lost before. */
  end: Promise<Omit<Output, 'stdout'>>
  /** Ends the command's stdin and the channel. */
  close(): void
}

/** With which rights a command runs, and what the host's helper is asked for where the account has those by it alone. */
export interface RunOptions {
  rights?: Rights
  verb?: Verb
}

/** `user` is who reads something of the host by it: each has a share of the commands that run at once. */
export interface ExecOptions extends RunOptions {
  timeoutMs?: number
  user?: number
}

/** The host under administration. Every method rejects with an SshError, or a Failure of the settings. */
export interface Host {
  signIn: LoginCheck
  /** Who an account is, asked as the service account; see `Inspector`. */
  inspect(username: string, options?: { withinMs?: number; shared?: boolean }): Promise<Account | 'gone'>
  elevation(): Promise<Elevation>
  /** What its sshd does with who gives wrong passwords; undefined for one that has no penalties. */
  penalties(): Promise<Penalties | undefined>
  /** Takes up changed settings at once, and says in the log how the service account fares with them. */
  renew(): void
  /** Runs a command of the service account to its end. */
  exec(command: Command, options?: ExecOptions): Promise<Output>
  /** Starts a command of the service account whose output is read as it comes. */
  stream(command: Command, options?: RunOptions): Promise<HostStream>
  /** Opens a terminal; rejects with `terminals_busy` while there are as many as there may be. */
  terminal(options: TerminalOptions): Promise<HostTerminal>
  /** Cuts the connections of the service account, which may have died without a word, and all that runs over them. */
  cut(): void
  /** How many connections of the service account there are. */
  connections(): number
  close(): void
}

/** apt reading its lists on a slow disk takes seconds; a minute means that it hangs. */
const EXEC_MS = 60_000
/** What is given up here has had time to end by itself; then the host ends it. */
const GRACE_MS = 5_000
/** A rule of sudo that was added or taken away is noticed within this time. */
const ELEVATION_MS = 300_000
export function createHost({
  settings,
  log,
  onConnect = () => {},
  onHostKeyChanged = () => {},
}: {
  settings: Pick<Settings, 'sshServer' | 'sshAccount' | 'pinHostKey'>
  log: Log
  /** Told the key, with its type, of each new connection. */
  onConnect?: (hostKey: string) => void
  /** Told each time that another key than the pinned one answers. */
  onHostKeyChanged?: (error: SshError) => void
}): Host {
  const elevations = new Map<string, Promise<Elevation>>()
  const closing = new AbortController()

  const noticing = async <result>(connected: Promise<result>): Promise<result> => {
    try {
      return await connected
    } catch (error) {
      if (error instanceof SshError && error.reason === 'host_key_changed') onHostKeyChanged(error)
      throw error
    }
  }

  const pacing = createPacing()
  let reviewSignIns = () => {}
  const sshd = createSshdWatch(
    (version) => readPenalties(version, exec),
    (penalties) => {
      if (penalties) log.info({ penalties: penalties.state }, 'what sshd does with wrong passwords')
      pacing.learn(penalties)
      reviewSignIns()
    },
  )

  const pin = async (account: SshAccount, { hostKey, identification }: SshConnection) => {
    sshd.identified(identification)
    onConnect(hostKey)
    if (account.hostKey !== '') return
    const pinned = await settings.pinHostKey(hostKey, account.address)
    if (pinned === undefined) throw new OutdatedError()
    if (!matches(hostKey, pinned))
      throw new SshError('host_key_changed', `la clé de l’hôte a changé : ${hostKey} au lieu de ${pinned}`)
  }

  const refused = new WeakSet<SshError>()
  /** The same of the service account, whose wrong password counts at the host like any other; who shares an attempt has one error. */
  const serving = <result>(connected: Promise<result>): Promise<result> =>
    noticing(connected).catch((error: unknown) => {
      if (error instanceof SshError && error.reason === 'bad_credentials' && !refused.has(error)) {
        refused.add(error)
        pacing.wrong()
      }
      throw error
    })

  // Jobs hold their channels for minutes: apart, so that short commands always find room.
  const pool = createSshPool(4, pin)
  // What users read may take long, and there may be many of them: jobs begin and end beside it.
  const reading = createSshPool(8, pin)
  const readers = createReaders()
  const streams = createSshPool(32, pin)
  // What decides about rights has a way of its own, which no request of a user can fill.
  const inspections = createSshPool(2, pin)
  // Each has a connection, which can be cut; two more, because the end of some may not be told yet when others begin.
  const terminals = createSshPool(MOST_TERMINALS + 2, pin, 1)
  let openTerminals = 0

  const elevation = (account: SshAccount): Promise<Elevation> => {
    const key = JSON.stringify({ ...account, hostKey: '' })
    const known = elevations.get(key)
    if (known) return known
    const asked = askElevation(account)
    elevations.clear()
    elevations.set(key, asked)
    const forget = () => void elevations.delete(key)
    asked.then(() => setTimeout(forget, ELEVATION_MS).unref(), forget)
    return asked
  }

  const askElevation = async (account: SshAccount): Promise<Elevation> => {
    const channel = await serving(inspections.open(account, script(ELEVATION, 'ops-panel-elevation', HOST_HELPER)))
    channel.end(`${account.password}\n`)
    const { stdout } = await collect(channel, IDENTIFY_MS)
    const word = stdout.trim().split('\n').at(-1)
    const found = (['root', 'sudo', 'password', 'helper', 'rule'] as const).find((mode) => mode === word)
    if (!found) throw new SshError('lost', `${account.username} ne peut exécuter aucune commande`)
    log.info({ username: account.username, elevation: found }, 'service account')
    return found
  }

  const open = (
    from: SshPool,
    command: Command,
    { rights = 'none', verb, endsInMs }: RunOptions & { endsInMs?: number },
  ): Promise<ClientChannel> =>
    inForce(async () => {
      const account = await settings.sshAccount()
      const mode = rights === 'none' ? 'root' : await elevation(account)
      // The account could not signal what runs as root; where a rule names single commands, this is none of them.
      const bounded = endsInMs && rights === 'command' && mode !== 'rule' ? limited(command, endsInMs) : command
      const channel = await serving(from.open(account, elevate(bounded, mode, rights, verb)))
      if (mode === 'password') channel.write(`${account.password}\n`)
      return channel
    })

  const openTerminal = (options: TerminalOptions, onClose: () => void): Promise<HostTerminal> =>
    inForce(async () => {
      const account = await settings.sshAccount()
      const pty = pseudoTerminal(options)
      const begun = options.enter && entry(options.enter, await elevation(account), account.password)
      const channel = await serving(terminals.open(account, begun?.command, pty))
      const cut = () => terminals.cut(channel)
      const returns = begun ? await enterShell(channel, begun, { signal: options.signal, cut }) : 1
      return hostTerminal(channel, { returns, onClose, cut })
    })

  const run = async (
    from: SshPool,
    command: Command,
    { timeoutMs = EXEC_MS, ...options }: RunOptions & { timeoutMs?: number },
  ): Promise<Output> => {
    const began = performance.now()
    const opening = open(from, command, { ...options, endsInMs: timeoutMs + GRACE_MS })
    const channel = await inTime(opening, timeoutMs)
    channel.end()
    try {
      return await collect(channel, Math.max(1, timeoutMs - (performance.now() - began)), timeoutMs)
    } catch (error) {
      from.abandon(channel)
      throw error
    }
  }
  const exec: Host['exec'] = async (command, { user, ...options } = {}) => {
    if (user === undefined) return run(pool, command, options)
    return readers.enter(user, () => run(reading, command, options))
  }
  const inspector = createInspector((command, timeoutMs) => run(inspections, command, { rights: 'script', timeoutMs }))

  return {
    signIn: createLoginCheck(
      async (username, password, work) => {
        const account = { ...(await settings.sshServer()), username, password }
        const connection = await noticing(connect(account, closing.signal, sshd.identified))
        try {
          await pin(account, connection)
          return await work(connection)
        } finally {
          connection.end()
        }
      },
      pacing,
      (review) => {
        reviewSignIns = review
      },
    ),
    inspect: inspector.inspect,
    elevation: async () => elevation(await settings.sshAccount()),
    penalties: sshd.penalties,
    renew() {
      elevations.clear()
      sshd.forget()
      inspector.forget()
      inspections.renew()
      pool.renew()
      reading.renew()
      streams.renew()
      terminals.renew()
      settings
        .sshAccount()
        .then(elevation)
        .catch((error: unknown) => log.warn({ err: error }, 'the service account cannot be used with these settings'))
    },
    cut() {
      for (const each of [inspections, pool, reading, streams, terminals]) each.cutAll()
    },
    connections: () => inspections.size() + pool.size() + reading.size() + streams.size() + terminals.size(),
    exec,
    async stream(command, options = {}) {
      const channel = await open(streams, command, options)
      const stderr = limitedText(channel.stderr)
      const exit = exitOf(channel)
      let closed = false
      return {
        read: (take) => takeEach(channel, (bytes) => (closed ? undefined : take(bytes))),
        end: Promise.all([exit, stderr]).then(([code, text]) => ({ code, stderr: text })),
        close() {
          closed = true
          channel.end()
          channel.close()
          drain(channel)
        },
      }
    },
    async terminal(options) {
      if (openTerminals >= MOST_TERMINALS) throw new Failure('terminals_busy', { values: { most: MOST_TERMINALS } })
      openTerminals += 1
      const leave = () => {
        openTerminals -= 1
      }
      try {
        return await openTerminal(options, leave)
      } catch (error) {
        leave()
        throw error
      }
    },
    close() {
      closing.abort()
      inspections.close()
      pool.close()
      reading.close()
      streams.close()
      terminals.close()
    },
  }
}
