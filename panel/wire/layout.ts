import { signal } from '@preact/signals'
import { api, onSignOut } from './panel.ts'

/** A user's arrangement of the dashboard. */
export interface Arrangement {
  order: readonly string[]
  hidden: readonly string[]
}

/** The panel's key in the layout document, which other frontends may share. */
const KEY = 'panel'
const EMPTY: Arrangement = { order: [], hidden: [] }

/** As it is shown; undefined until it is known. */
export const arrangement = signal<Arrangement>()
/** As the service has it. */
let stored: Arrangement | undefined

export async function readArrangement(signal?: AbortSignal): Promise<Arrangement> {
  const layout = await api('GET /api/dashboard/layout', { signal })
  stored = arrangementIn(layout)
  arrangement.value = stored
  return stored
}

/**
 * Saves the arrangement that is shown, and the one that is shown by then, until both are the same. Keeps the current values
 * of other keys. After a failure the stored arrangement is shown again.
 */
export async function storeArrangement(): Promise<void> {
  try {
    while (arrangement.value && arrangement.value !== stored) {
      const next = arrangement.value
      const layout = await api('GET /api/dashboard/layout')
      const own = isRecord(layout[KEY]) ? layout[KEY] : {}
      await api('PUT /api/dashboard/layout', { body: { ...layout, [KEY]: { ...own, ...next } } })
      stored = next
    }
  } catch (error) {
    arrangement.value = stored
    throw error
  }
}

function arrangementIn(layout: Readonly<Record<string, unknown>>): Arrangement {
  const own = layout[KEY]
  if (!isRecord(own)) return EMPTY
  return { order: words(own.order), hidden: words(own.hidden) }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function words(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

onSignOut(() => {
  arrangement.value = undefined
  stored = undefined
})
