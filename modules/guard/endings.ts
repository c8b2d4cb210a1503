import { type End, NOTE_TEXT } from './notes.ts'
import { findInStack, type Watched } from './places.ts'

/** A watch for modules that end this process. */
export interface Endings {
  stop(): void
}

/**
 * Sees which module ends the process, by `process.exit` or by an error that nobody catches: its code is on the stack, or
 * the work was begun by it (`current`). `note` is called once, when the process ends.
 */
export function watchEndings(
  modules: readonly Watched[],
  current: () => string | undefined,
  note: (note: End) => void,
): Endings {
  let thrown: End | undefined
  const begunBy = () => modules.find(({ id }) => id === current())

  const onError = (error: unknown) => {
    const stack = error instanceof Error ? callsOf(error) : ''
    const module = begunBy() ?? findInStack(stack, modules)?.module
    if (!module) return
    const found = findInStack(stack, [module])
    const message = error instanceof Error ? error.message : String(error)
    thrown = noteOf('error', module, found?.place ?? '', oneLine(message))
    // A process that has caught it after all lives on.
    setImmediate(() => {
      thrown = undefined
    }).unref()
  }

  const onExit = () => {
    if (thrown) return note(thrown)
    const found = findInStack(stackNow(), modules)
    const module = found?.module ?? begunBy()
    if (module) note(noteOf('exit', module, lineOf(found?.place ?? ''), ''))
  }

  process.on('uncaughtExceptionMonitor', onError)
  process.on('exit', onExit)
  return {
    stop() {
      process.off('uncaughtExceptionMonitor', onError)
      process.off('exit', onExit)
    },
  }
}

/** Returns the stack of an error without its message: a caller's text in it may look like calls of another module. */
function callsOf({ stack, message }: Error): string {
  return String(stack).replace(message, () => '')
}

/** Leaves the column out of a place. */
function lineOf(place: string): string {
  return place.replace(/(:\d+):\d+$/, '$1')
}

/** Most calls that are looked at between the end of the process and the code that asked for it. */
const MOST_CALLS = 200

/** Returns the calls that are in progress, the innermost first. */
function stackNow(): string {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = MOST_CALLS
  const { stack = '' } = new Error('here')
  Error.stackTraceLimit = limit
  return stack
}

function noteOf(what: End['what'], { id, release }: Watched, place: string, message: string): End {
  return { what, module: id, release, place: place.slice(0, NOTE_TEXT), message: message.slice(0, NOTE_TEXT) }
}

const oneLine = (text: string) => text.slice(0, 2 * NOTE_TEXT).replace(/\s+/g, ' ')
