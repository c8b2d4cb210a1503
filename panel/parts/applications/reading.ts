import { batch, type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { ApiError } from '../../../client/index.ts'
import type { Source } from '../../nouns/application.ts'
import { type ApplicationOf, fetchSource, lastAgreed } from '../../wire/applications.ts'

/** The reason to read again. */
export type Notice = 'changed' | 'disagreed'

/** The code or the images of an update, as they are read once and again. */
export interface Reading {
  /** Undefined until the first one has arrived; it stays while the next one is fetched. */
  source: ReadonlySignal<Source | undefined>
  /** The texts that it is compared with: those of the last agreement, else those that were read before; undefined where they are the same. */
  before: ReadonlySignal<{ source: Source; isAgreed: boolean } | undefined>
  busy: ReadonlySignal<boolean>
  error: ReadonlySignal<unknown>
  /** The time of the reading, in ms since 1970. */
  at: ReadonlySignal<number | undefined>
  notice: ReadonlySignal<Notice | undefined>
  /** Fetches it now. Never rejects. */
  read(notice?: Notice): Promise<void>
  /** Notes an agreement, or that there is none any more. */
  take(source: Source): void
  stop(): void
}

function createReading(of: ApplicationOf): Reading {
  const source = signal<Source>()
  const before = signal<{ source: Source; isAgreed: boolean }>()
  const busy = signal(false)
  const error = signal<unknown>()
  const at = signal<number>()
  const notice = signal<Notice>()
  let going: AbortController | undefined
  return {
    source,
    before,
    busy,
    error,
    at,
    notice,
    async read(why) {
      going?.abort()
      const mine = new AbortController()
      going = mine
      batch(() => {
        busy.value = true
        error.value = undefined
        notice.value = why
      })
      const known = lastAgreed(of)
      const last = source.peek()
      try {
        const found = await fetchSource(of, mine.signal)
        if (mine.signal.aborted) return
        const other = [known && { source: known, isAgreed: true }, last && { source: last, isAgreed: false }]
        batch(() => {
          source.value = found
          at.value = Date.now()
          const differing = other.find((each) => each && each.source.digest !== found.digest)
          // Reading the same again keeps the comparison.
          if (differing || found.agreed) before.value = found.agreed ? undefined : differing
        })
      } catch (reason) {
        if (!mine.signal.aborted) error.value = reason
      } finally {
        if (going === mine) busy.value = false
      }
    },
    take(next) {
      source.value = next
      notice.value = undefined
    },
    stop: () => going?.abort(),
  }
}

/** Reads when the component appears, and stops when it disappears. */
export function useReading({ target, id }: ApplicationOf): Reading {
  const reading = useMemo(() => createReading({ target, id }), [target, id])
  useEffect(() => {
    void reading.read()
    return () => reading.stop()
  }, [reading])
  return reading
}

/** Returns why a refused request sends people back to reading; undefined for every other error. */
export function noticeOf(error: unknown): Notice | undefined {
  if (!(error instanceof ApiError)) return undefined
  if (error.code === 'source_changed') return 'changed'
  return error.code === 'not_agreed' ? 'disagreed' : undefined
}
