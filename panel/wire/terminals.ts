import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { bytes as amount } from '../nouns/format.ts'
import { endOf, exitOf, pieces, type ShellEnd, withCtrl } from '../nouns/shell.ts'
import type { Screen, Size } from '../terminal/terminal.ts'
import { language, words } from '../words/words.ts'
import { terminalWords } from './terminal-words.ts'
import { onSignOut, panel } from './panel.ts'
import { confirmIdentity } from './step-up.ts'

/** The state of a terminal; `failed`: it could not be requested at all. */
export type ShellState = { is: 'opening' | 'open' } | { is: 'ended'; end: ShellEnd } | { is: 'failed'; error: unknown }

export interface Shell {
  id: number
  target: string
  state: ReadonlySignal<ShellState>
  /** Ctrl applies to the next character, for keyboards without that key. */
  ctrl: Signal<boolean>
  /** Undefined until its code is loaded. */
  screen: ReadonlySignal<Screen | undefined>
  /** Shows the terminal in `box`, and opens its shell the first time. */
  show(box: HTMLElement, label: string): Promise<void>
  /** Opens a new shell in place of an ended one. */
  reopen(): void
  close(): void
}

/** The delay before a resized window reports its size. */
const SIZE_MS = 100
/** Why the service closes a socket of somebody whose last proof is too old. */
const STEP_UP = 'step_up_required'
const MAX_AHEAD = 1_000

/** The open and ended terminals, in order. They live as long as the panel is open, whatever page is shown. */
export const shells = signal<readonly Shell[]>([])
/** The shown terminal. */
export const current = signal<Shell>()
/** The number of shells that closing this window would end. */
export const openShells = computed(() => shells.value.filter(({ state }) => state.value.is === 'open').length)
/** Counts how often the user left the terminal by key. */
export const terminalExits = signal(0)

let opened = 0

export function openShell(target: string): Shell {
  opened += 1
  const shell = createShell(opened, target)
  shells.value = [...shells.value, shell]
  current.value = shell
  return shell
}

function createShell(id: number, target: string): Shell {
  const state = signal<ShellState>({ is: 'opening' })
  const screen = signal<Screen>()
  const ctrl = signal(false)
  let size: Size = { cols: 80, rows: 24 }
  let socket: Awaited<ReturnType<typeof panel.open>> | undefined
  let fetching: Promise<Screen> | undefined
  let asked = false
  let isClosed = false
  let timer: ReturnType<typeof setTimeout> | undefined

  /** Keys typed before the shell was ready, within a limit. */
  let ahead: Uint8Array<ArrayBuffer>[] = []

  const isOpen = () => state.value.is === 'open'
  const type = (bytes: Uint8Array<ArrayBuffer>) => {
    if (state.value.is === 'opening' && ahead.length < MAX_AHEAD) ahead.push(bytes)
    if (!isOpen()) return
    const [byte] = bytes
    if (ctrl.value && bytes.length === 1 && byte !== undefined) bytes[0] = withCtrl(byte)
    ctrl.value = false
    for (const piece of pieces(bytes)) socket?.send(piece)
  }
  const tellSize = () => {
    if (isOpen()) socket?.send(JSON.stringify({ type: 'resize', ...size }))
  }
  const make = async (label: string) => {
    const { createScreen } = await import('../terminal/terminal.ts')
    return createScreen({
      label,
      saySkipped: (count) => terminalWords().skipped(amount(count, words().shell.units.bytes, language())),
      onTyped: type,
      onSize(next) {
        size = next
        clearTimeout(timer)
        timer = setTimeout(tellSize, SIZE_MS)
      },
      onLeave() {
        terminalExits.value += 1
      },
    })
  }
  const connect = async () => {
    asked = true
    ahead = []
    state.value = { is: 'opening' }
    let exit: ReturnType<typeof exitOf>
    let hasBegun = false
    const query = new URLSearchParams({ target, cols: `${size.cols}`, rows: `${size.rows}` })
    const before = size
    try {
      const mine = await panel.open(`/ws/terminal?${query}`)
      socket = mine
      mine.binaryType = 'arraybuffer'
      mine.addEventListener('open', () => {
        hasBegun = true
        state.value = { is: 'open' }
        if (size !== before) tellSize()
        for (const bytes of ahead) type(bytes)
      })
      mine.addEventListener('message', ({ data }) => {
        if (data instanceof ArrayBuffer) screen.value?.write(new Uint8Array(data))
        else exit = exitOf(String(data)) ?? exit
      })
      mine.addEventListener('close', ({ code, reason }) => {
        if (String(reason) === STEP_UP) void confirmAndConnect()
        else state.value = { is: 'ended', end: endOf(exit, code, hasBegun) }
      })
      if (isClosed) mine.close()
    } catch (error) {
      state.value = { is: 'failed', error }
    }
  }

  /** The service opens a terminal for somebody who has proved lately who they are. */
  const confirmAndConnect = async () => {
    state.value = { is: 'opening' }
    const isConfirmed = await confirmIdentity(undefined)
    if (isClosed) return
    if (isConfirmed) await connect()
    else state.value = { is: 'ended', end: { why: 'unconfirmed' } }
  }

  const shell: Shell = {
    id,
    target,
    state,
    ctrl,
    screen,
    async show(box, label) {
      try {
        fetching ??= make(label)
        const made = await fetching
        if (isClosed) return made.dispose()
        if (!box.isConnected || current.value !== shell) return
        screen.value = made
        size = made.show(box)
        if (!asked) void connect()
      } catch (error) {
        fetching = undefined
        state.value = { is: 'failed', error }
      }
    },
    reopen() {
      screen.value?.renew()
      void connect()
    },
    close() {
      isClosed = true
      socket?.close()
      screen.value?.dispose()
      const at = shells.value.indexOf(shell)
      shells.value = shells.value.filter((each) => each !== shell)
      if (current.value === shell) current.value = shells.value[Math.min(at, shells.value.length - 1)]
    },
  }
  return shell
}

const ask = (event: BeforeUnloadEvent) => event.preventDefault()
effect(() => {
  if (openShells.value > 0) addEventListener('beforeunload', ask)
  else removeEventListener('beforeunload', ask)
})

onSignOut(() => {
  for (const shell of shells.value) shell.close()
})
