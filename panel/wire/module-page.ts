import { signal } from '@preact/signals'
import type { Answer } from '../../client/index.ts'
import { safeLink } from '../nouns/links.ts'
import { reconnects } from './connection.ts'
import { api, isUnconfirmed, onSignOut, panel } from './panel.ts'

export type ModulePage = Answer<'GET /api/module-pages/{id}'>
export type Section = ModulePage['sections'][number]

interface Sent {
  params?: Readonly<Record<string, unknown>>
  query?: Readonly<Record<string, unknown>>
  body?: unknown
  signal?: AbortSignal | undefined
}

/** The panel's client for operations that its types do not know: those of modules. */
interface AnyCall {
  call(operation: string, sent: Sent): Promise<unknown>
}
const client: AnyCall = { call: api }
const silent: AnyCall = { call: panel.api }

/** Calls an endpoint of a module as the user; a page names it with `:id` for its parameters. */
export function callModule(call: string, sent: Sent = {}): Promise<unknown> {
  return client.call(operationOf(call), sent)
}

/**
 * Calls an endpoint for the frame of a module. A proof is asked for only when `mayAsk` allows it: a frame could ask for it
 * again and again otherwise.
 */
export async function callForFrame(call: string, sent: Sent, mayAsk: () => boolean): Promise<unknown> {
  try {
    return await silent.call(operationOf(call), sent)
  } catch (error) {
    if (!isUnconfirmed(error) || !mayAsk()) throw error
    return client.call(operationOf(call), sent)
  }
}

function operationOf(call: string): string {
  return call.replaceAll(/:(\w+)/g, '{$1}')
}

export interface MenuEntry {
  id: string
  label: string
  icon: string | null
  href: string
}

/** The entries of modules in the menu; undefined until they are known. */
export const menuEntries = signal<readonly MenuEntry[]>()

export async function readMenuEntries(): Promise<void> {
  const modules = await api('GET /api/modules')
  menuEntries.value = modules.flatMap(({ id, is_core, is_enabled, nav_label, nav_icon, nav_href }) => {
    const href = safeLink(nav_href)
    // Core modules are pages of the panel.
    return is_core || !is_enabled || nav_label === null || !href ? [] : [{ id, label: nav_label, icon: nav_icon, href }]
  })
}

// A change of modules restarts the service.
reconnects.subscribe((times) => {
  if (times > 0 && menuEntries.peek()) readMenuEntries().catch(() => {})
})

onSignOut(() => {
  menuEntries.value = undefined
})
