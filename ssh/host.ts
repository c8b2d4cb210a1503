/*
 * The host as the other rooms use it: chooses the pool, the rights and the time limit for each command. Pools are
 * separate, so that users who read slowly do not delay jobs or the confirmation of rights.
 */

import type { ClientChannel } from 'ssh2'
import type { Log } from '../platform/log.ts'
import { createAccountLookup } from './account-lookup.ts'
import {
  collect,
  type ExecOptions,
  type HostStream,
  hostStream,
  inTime,
  type Output,
  type RunOptions,
  type StreamOptions,
} from './channel.ts'
import { sshFailure } from './codes.ts'
import { type Command, elevate, type Elevation, HOST_HELPER, limited, script } from './command.ts'
import { connect, type SshConnection, SshError } from './connection.ts'
import { matches } from './host-key.ts'
import { ELEVATION } from './identity-script.ts'
import { type Account, IDENTIFY_MS } from './identity.ts'
import { createLoginCheck, type LoginCheck } from './login-check.ts'
import { createLoginThrottle } from './login-throttle.ts'
import { createSshPool, OutdatedError, type SshPool, withCurrentSettings } from './pool.ts'
import type { SshAccount, SshSettings } from './settings.ts'
import { createSshdMonitor } from './sshd-monitor.ts'
import { readSshdPenalties, type SshdPenalties } from './sshd-penalties.ts'
import {
  enterShell,
  entry,
  type HostTerminal,
  hostTerminal,
  MOST_TERMINALS,
  pseudoTerminal,
  type TerminalOptions,
} from './terminal.ts'
import { createUserReadSlots } from './user-read-slots.ts'

/** The managed host. Every method rejects with an SshError, or a Failure of the settings. */
export interface Host extends LoginCheck {
  /** Looks up an account through the service account; see `AccountLookup`. */
  inspect(username: string, options?: { withinMs?: number; shared?: boolean }): Promise<Account | 'gone'>
  elevation(): Promise<Elevation>
  /** Returns how its sshd treats addresses with wrong passwords; undefined for an sshd without penalties. */
  penalties(): Promise<SshdPenalties | undefined>
  /** Applies changed settings at once, and logs whether the service account works with them. */
  renew(): void
  /** Runs a command of the service account to its end. */
  exec(command: Command, options?: ExecOptions): Promise<Output>
  /** Starts a command of the service account whose output is read as it arrives. */
  stream(command: Command, options?: StreamOptions): Promise<HostStream>
  /** Opens a terminal; rejects with `terminals_busy` when the limit is reached. */
  terminal(options: TerminalOptions): Promise<HostTerminal>
  /** Cuts the connections of the service account, which may be dead, together with everything that runs over them. */
  cut(): void
  /** Returns the number of connections of the service account. */
  connections(): number
  close(): void
}

/** apt takes seconds to read its lists from a slow disk; after a minute it is considered hung. */
const EXEC_MS = 60_000
/** Time for a command to end after it was given up; then the host ends it. */
const GRACE_MS = 5_000
/** A sudo rule that was added or removed takes effect within this time. */
const ELEVATION_MS = 300_000
export function createHost({
  settings,
  log,
  asksPeople = true,
  answeredMs,
  onConnect = () => {},
  onHostKeyChanged = () => {},
}: {
  settings: Pick<SshSettings, 'sshServer' | 'sshAccount' | 'pinHostKey'>
  log: Log
  /** Whether a login may wait for answers between two requests. */
  asksPeople?: boolean
  /** The time within which a login must be answered, 100 s by default. */
  answeredMs?: number
  /** Receives the key of each new connection, with its type. */
  onConnect?: (hostKey: string) => void
  /** Called each time the host presents a key other than the pinned one. */
  onHostKeyChanged?: (error: SshError) => void
}): Host {
  const elevations = new Map<string, Promise<Elevation>>()
  const closing = new AbortController()

  const watchHostKey = async <result>(connected: Promise<result>): Promise<result> => {
    try {
      return await connected
    } catch (error) {
      if (error instanceof SshError && error.reason === 'host_key_changed') onHostKeyChanged(error)
      throw error
    }
  }

  const throttle = createLoginThrottle()
  let reviewSignIns = () => {}
  const sshd = createSshdMonitor(
    (version) => readSshdPenalties(version, exec),
    (penalties) => {
      if (penalties) log.info({ penalties: penalties.state }, 'what sshd does with wrong passwords')
      throttle.configure(penalties)
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
  /**
   * Also counts a wrong password of the service account, which sshd penalizes like any other. Calls that share an
   * attempt share its error, which counts once.
   */
  const asService = <result>(connected: Promise<result>): Promise<result> =>
    watchHostKey(connected).catch((error: unknown) => {
      if (error instanceof SshError && error.reason === 'bad_credentials' && !refused.has(error)) {
        refused.add(error)
        throttle.failed()
      }
      throw error
    })

  // Jobs hold their channels for minutes. A separate pool leaves slots for short commands.
  const pool = createSshPool(4, pin)
  // Reads by users may be slow and numerous. A separate pool lets jobs begin and end meanwhile.
  const reading = createSshPool(8, pin)
  const readers = createUserReadSlots()
  const streams = createSshPool(32, pin)
  // Commands that decide about rights have their own pool, which no request of a user can fill.
  const inspections = createSshPool(2, pin)
  // Each terminal has its own connection, so that it can be cut. Two more allow for terminals whose end is not
  // reported yet.
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
    const words = account.password === '' ? [HOST_HELPER, 'no-password'] : [HOST_HELPER]
    const channel = await asService(inspections.open(account, script(ELEVATION, 'ops-panel-elevation', ...words)))
    channel.end(account.password === '' ? '' : `${account.password}\n`)
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
    withCurrentSettings(async () => {
      const account = await settings.sshAccount()
      const mode = rights === 'none' ? 'root' : await elevation(account)
      // The account could not signal a root process, so `timeout` must run as root; a rule for single commands does
      // not allow it.
      const bounded = endsInMs && rights === 'command' && mode !== 'rule' ? limited(command, endsInMs) : command
      const channel = await asService(from.open(account, elevate(bounded, mode, rights, verb)))
      if (mode === 'password') channel.write(`${account.password}\n`)
      return channel
    })

  const openTerminal = (options: TerminalOptions, onClose: () => void): Promise<HostTerminal> =>
    withCurrentSettings(async () => {
      const account = await settings.sshAccount()
      const pty = pseudoTerminal(options)
      const begun = options.enter && entry(options.enter, await elevation(account), account.password)
      const channel = await asService(terminals.open(account, begun?.command, pty))
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
    return readers.run(user, () => run(reading, command, options))
  }
  const accounts = createAccountLookup((command, timeoutMs) =>
    run(inspections, command, { rights: 'script', timeoutMs }),
  )

  const logins = createLoginCheck(
    async (username, password, work, ask) => {
      const account = { ...(await settings.sshServer()), username, password }
      const person = asksPeople ? ask : undefined
      const connection = await watchHostKey(connect(account, closing.signal, sshd.identified, person))
      try {
        await pin(account, connection)
        return await work(connection)
      } finally {
        connection.end()
      }
    },
    throttle,
    (review) => {
      reviewSignIns = review
    },
    answeredMs,
  )

  return {
    ...logins,
    inspect: accounts.lookUp,
    elevation: async () => elevation(await settings.sshAccount()),
    penalties: sshd.penalties,
    renew() {
      elevations.clear()
      sshd.forget()
      accounts.forget()
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
    stream: async (command, { stderr, ...options } = {}) => hostStream(await open(streams, command, options), stderr),
    async terminal(options) {
      if (openTerminals >= MOST_TERMINALS) throw sshFailure('terminals_busy', { values: { most: MOST_TERMINALS } })
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
