import type { ComponentChildren } from 'preact'
import { words } from '../words/words.ts'

export type StatusKind =
  | 'ok'
  | 'ready'
  | 'warn'
  | 'stale'
  | 'err'
  | 'run'
  | 'off'
  | 'barred'
  | 'unknown'
  | 'info'
  | 'back'

/** Each status has its own shape, because many people cannot rely on colour. */
const SHAPES = {
  ok: (
    <>
      <circle cx="8" cy="8" r="6.5" />
      <path d="m5 8 2 2 4-4" />
    </>
  ),
  warn: <path d="M8 2 14.5 14h-13zM8 6.5v3.5M8 12v.01" />,
  err: (
    <>
      <path d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z" />
      <path d="m6 6 4 4m0-4-4 4" />
    </>
  ),
  run: <path d="M14.5 8A6.5 6.5 0 1 1 8 1.5" />,
  off: <rect x="3" y="3" width="10" height="10" rx="1" />,
  barred: (
    <>
      <circle cx="8" cy="8" r="6.5" />
      <path d="m3.6 12.4 8.8-8.8" />
    </>
  ),
  unknown: <circle cx="8" cy="8" r="6.5" stroke-dasharray="3 2.4" />,
  ready: (
    <>
      <circle cx="8" cy="8" r="6.5" />
      <path d="M8 11V5.2M5.4 7.6 8 5l2.6 2.6" />
    </>
  ),
  stale: (
    <>
      <circle cx="8" cy="8" r="6.5" stroke-dasharray="3 2.4" />
      <path d="M8 4.8V8l2 1.4" />
    </>
  ),
  back: (
    <>
      <path d="M2.2 3v3.6h3.6" />
      <path d="M2.5 6.4A6.2 6.2 0 1 1 2 9.6" />
    </>
  ),
  info: (
    <>
      <circle cx="8" cy="8" r="6.5" />
      <path d="M8 7.5v3.5M8 5v.01" />
    </>
  ),
}

interface StatusProps {
  is: StatusKind
  /** The status word; defaults to the word of the kind. */
  children?: ComponentChildren
  /** Whether only screen readers get the word, because a visible sentence already says it. */
  hidden?: boolean
}

/** A status as a shape, a word and a colour. */
export function Status({ is, children, hidden = false }: StatusProps) {
  return (
    <span class={`status ${is}`}>
      <svg class="shape" viewBox="0 0 16 16" aria-hidden="true">
        {SHAPES[is]}
      </svg>
      <span class={hidden ? 'unseen' : 'word'}>{children ?? words().shell.status[is]}</span>
    </span>
  )
}
