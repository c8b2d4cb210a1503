import { getCallSites } from 'node:util'
import { NOTE_TEXT, type Note } from './notes.ts'
import { findInStack, ownerOf, type Watched } from './places.ts'

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
  note: (note: Note) => void,
): Endings {
  let thrown: Note | undefined
  const begunBy = () => modules.find(({ id }) => id === current())

  const onError = (error: unknown) => {
    const stack = error instanceof Error ? String(error.stack) : ''
    const found = findInStack(stack, modules)
    const module = found?.module ?? begunBy()
    if (!module) return
    const message = error instanceof Error ? error.message : String(error)
    thrown = noteOf('error', module, found?.place ?? '', oneLine(message))
    // A process that has caught it after all lives on.
    setImmediate(() => {
      thrown = undefined
    }).unref()
  }

  const onExit = () => {
    if (thrown) return note(thrown)
    for (const { scriptName, lineNumber } of getCallSites(200)) {
      const module = ownerOf(scriptName, modules)
      if (!module) continue
      const home = module.homes.find((each) => scriptName.startsWith(each)) ?? ''
      return note(noteOf('exit', module, `${scriptName.slice(home.length)}:${lineNumber}`, ''))
    }
    const module = begunBy()
    if (module) note(noteOf('exit', module, '', ''))
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

function noteOf(what: Note['what'], { id, release }: Watched, place: string, message: string): Note {
  return { what, module: id, release, place: place.slice(0, NOTE_TEXT), message: message.slice(0, NOTE_TEXT) }
}

const oneLine = (text: string) => text.slice(0, 2 * NOTE_TEXT).replace(/\s+/g, ' ')
