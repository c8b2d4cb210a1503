import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { loadErrors } from '../words/words.ts'
import { Problem } from './problem.tsx'

const loads: (() => Promise<unknown>)[] = [loadErrors]

/** Loads all code that is not there yet, so that later pages need no network for it. Never rejects. */
export function preload(): void {
  // A page whose code could not be loaded tries again when it is shown.
  for (const load of loads) load().catch(() => {})
}

/**
 * Returns a component whose code is loaded when it is first shown, or before by `preload`. It shows nothing until then,
 * and the error when the code cannot be loaded. The first page of a visit therefore waits for less.
 */
export function lazy(load: () => Promise<ComponentType>): ComponentType {
  let loaded: ComponentType | undefined
  const once = async () => {
    loaded ??= await load()
  }
  loads.push(once)
  return function Lazy() {
    const [isShown, shown] = useState(loaded !== undefined)
    const [error, setError] = useState<unknown>()
    const start = () => {
      setError(undefined)
      once().then(() => shown(true), setError)
    }
    useEffect(() => {
      // The code may have come since the render, which showed nothing.
      if (!isShown) start()
    }, [])
    const Component = loaded
    if (Component) return <Component />
    return error === undefined ? null : <Problem error={error} retry={start} />
  }
}
