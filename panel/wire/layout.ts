import { signal } from '@preact/signals'
import { api, atSignOut } from './panel.ts'

/** How somebody has arranged the dashboard. */
export interface Arrangement {
  order: readonly string[]
  hidden: readonly string[]
}

/** Where the panel keeps its own: another frontend may keep more in the same document. */
const KEY = 'panel'
const EMPTY: Arrangement = { order: [], hidden: [] }

/** Undefined until it is known. */
export const arrangement = signal<Arrangement>()

export async function readArrangement(signal?: AbortSignal): Promise<Arrangement> {
  const layout = await api('GET /api/dashboard/layout', { signal })
  arrangement.value = arrangementIn(layout)
  return arrangement.value
}

/** Stores it beside what others keep there, as it is now. */
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

atSignOut(() => {
  arrangement.value = undefined
})
