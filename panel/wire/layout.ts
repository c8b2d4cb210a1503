import { signal } from '@preact/signals'
import { api, onSignOut } from './panel.ts'

/** A user's arrangement of the dashboard. */
export interface Arrangement {
  order: readonly string[]
  hidden: readonly string[]
}

/** The panel's key in the layout document, which other frontends may share. */
const KEY = 'panel'

/** As it is shown; undefined until it is known. */
export const arrangement = signal<Arrangement>()
/** As the service has it. */
let stored: Arrangement | undefined
/** The saving that runs, for every visit of the page. */
let saving: Promise<void> | undefined

export async function readArrangement(signal?: AbortSignal): Promise<void> {
  const layout = await api('GET /api/dashboard/layout', { signal })
  // A change that is being saved is newer.
  if (arrangement.value !== stored) return
  stored = arrangementIn(layout)
  arrangement.value = stored
}

/**
 * Saves the arrangement that is shown, and the one that is shown by then, until both are the same. Keeps the current values
 * of other keys. After a failure the stored arrangement is shown again.
 */
export function storeArrangement(): Promise<void> {
  saving ??= save().finally(() => {
    saving = undefined
  })
  return saving
}

async function save(): Promise<void> {
  try {
    while (arrangement.value && arrangement.value !== stored) {
      const next = arrangement.value
      const layout = await api('GET /api/dashboard/layout')
      await api('PUT /api/dashboard/layout', { body: { ...layout, [KEY]: { ...ownIn(layout), ...next } } })
      // After a sign-out, it is not known any more.
      if (arrangement.value) stored = next
    }
  } catch (error) {
    arrangement.value = stored
    throw error
  }
}

function arrangementIn(layout: Readonly<Record<string, unknown>>): Arrangement {
  const { order, hidden } = ownIn(layout)
  return { order: words(order), hidden: words(hidden) }
}

function ownIn(layout: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return isRecord(layout[KEY]) ? layout[KEY] : {}
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
