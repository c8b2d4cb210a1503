import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Load } from '../wire/load.ts'
import { words } from '../words/words.ts'
import { Problem } from './problem.tsx'
import { Ago } from './time.tsx'

/** Faster answers appear without a placeholder. */
const PLACEHOLDER_DELAY_MS = 150

interface LoadedProps<data> {
  of: Load<data>
  /** The number of placeholder rows. */
  rows?: number
  children(data: data): ComponentChildren
}

/** Shows loaded data: placeholder rows first, then the data or the error. Old data stays beside an error. */
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

/** The age of data that is not current. */
export function Aged({ at }: { at: number }) {
  return (
    <p class="dim aged">
      <Ago at={at} say={words().shell.aged} />
    </p>
  )
}

/** Empty rows that appear after a short delay. */
export function Placeholder({ rows }: { rows: number }) {
  const [shown, show] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => show(true), PLACEHOLDER_DELAY_MS)
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
