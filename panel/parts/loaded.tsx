import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Load } from '../wire/load.ts'
import { words } from '../words/words.ts'
import { Problem } from './problem.tsx'
import { Ago } from './time.tsx'

/** What is answered sooner is shown without anything before it. */
const PATIENCE_MS = 150

interface LoadedProps<data> {
  of: Load<data>
  /** How many rows to hold the place of. */
  rows?: number
  children(data: data): ComponentChildren
}

/** What was loaded, or how far that is: rows of its height, then the data, or why there is none. Old data stays beside an error. */
export function Loaded<data>({ of: load, rows = 3, children }: LoadedProps<data>) {
  const data = load.data.value
  const error = load.error.value
  return (
    <>
      <Problem error={error} retry={load.reload} />
      {data !== undefined && error !== undefined && load.at.value !== undefined && <Aged at={load.at.value} />}
      {data !== undefined ? children(data) : error === undefined && <Placeholder rows={rows} />}
    </>
  )
}

/** When it came, where that is not now. */
export function Aged({ at }: { at: number }) {
  return (
    <p class="dim aged">
      <Ago at={at} say={words().shell.aged} />
    </p>
  )
}

/** Rows without anything in them, after a moment. */
export function Placeholder({ rows }: { rows: number }) {
  const [shown, show] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => show(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class={shown ? 'placeholder shown' : 'placeholder'}>
      {shown && (
        <p class="unseen" role="status">
          {words().shell.loading}
        </p>
      )}
      {Array.from({ length: rows }, (_, n) => (
        <div key={n} class="row" />
      ))}
    </div>
  )
}
