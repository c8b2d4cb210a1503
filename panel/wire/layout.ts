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

/** Undefined until it is known. */
export const arrangement = signal<Arrangement>()

export async function readArrangement(signal?: AbortSignal): Promise<Arrangement> {
  const layout = await api('GET /api/dashboard/layout', { signal })
  arrangement.value = arrangementIn(layout)
  return arrangement.value
}

/** Saves the arrangement and keeps the current values of other keys. */
export async function storeArrangement(next: Arrangement): Promise<void> {
  const before = arrangement.value
  arrangement.value = next
  try {
    const layout = await api('GET /api/dashboard/layout')
    const own = isRecord(layout[KEY]) ? layout[KEY] : {}
    await api('PUT /api/dashboard/layout', { body: { ...layout, [KEY]: { ...own, ...next } } })
  } catch (error) {
    arrangement.value = before
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
})
