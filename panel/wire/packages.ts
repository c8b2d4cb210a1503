import { computed, signal } from '@preact/signals'
import type { Answer } from '../../client/index.ts'
import { api, atSignOut } from './panel.ts'

export type Package = Answer<'GET /api/updates/packages'>[number]
export type Target = Answer<'GET /api/updates/targets'>[number]

/** What can be upgraded in a target, as it was found at `at`, in ms since 1970. */
export interface Checked {
  packages?: readonly Package[]
  at?: number
  /** Of the last attempt; what was found before it is kept. */
  error?: unknown
  checking: boolean
}

/** A check is one connection to the host. */
const AT_ONCE = 4
/** So long what was found is good enough for who only looks. */
export const FRESH_MS = 10 * 60_000
const KEPT = 'ops-panel.checked'

/** The host and its containers; undefined until they are known. */
export const targets = signal<readonly Target[]>()
/** By the target's id. */
export const checked = signal<ReadonlyMap<string, Checked>>(kept())
/** How many packages wait, of all targets that were checked. */
export const waiting = computed(() =>
  [...checked.value.values()].reduce((sum, { packages = [] }) => sum + packages.length, 0),
)

/** `host` and what runs can be asked for its packages. */
export function canBeChecked({ id, status }: Target): boolean {
  return id === 'host' || status === 'running'
}

export async function readTargets(signal?: AbortSignal): Promise<readonly Target[]> {
  const found = await api('GET /api/updates/targets', { signal })
  targets.value = found
  const there = new Set(found.map(({ id }) => id))
  const left = [...checked.value].filter(([id]) => there.has(id))
  if (left.length < checked.value.size) keep(new Map(left))
  return found
}

let queue: string[] = []
let workers = 0

/** Asks what can be upgraded in these, a few at a time; `ifOlderMs` leaves out what was found less long ago. Never rejects. */
export function check(ids: readonly string[], { ifOlderMs = 0 } = {}): Promise<void> {
  const due = ids.filter((id) => {
    const { checking = false, at = 0, error } = checked.value.get(id) ?? {}
    return !checking && (ifOlderMs === 0 || error !== undefined || Date.now() - at > ifOlderMs)
  })
  keep(new Map([...checked.value, ...due.map((id) => [id, { ...checked.value.get(id), checking: true }] as const)]))
  queue.push(...due)
  const more = Math.min(AT_ONCE - workers, due.length)
  return Promise.all(Array.from({ length: Math.max(0, more) }, work)).then(() => {})
}

async function work(): Promise<void> {
  workers += 1
  for (let target = queue.shift(); target; target = queue.shift()) await checkOne(target)
  workers -= 1
}

async function checkOne(target: string): Promise<void> {
  const { error: _, ...before } = checked.value.get(target) ?? {}
  try {
    const packages = await api('GET /api/updates/packages', { query: { target } })
    put(target, { packages, at: Date.now(), checking: false })
  } catch (error) {
    put(target, { ...before, error, checking: false })
  }
}

function put(target: string, found: Checked): void {
  keep(new Map([...checked.value, [target, found]]))
}

function keep(next: ReadonlyMap<string, Checked>): void {
  checked.value = next
  const worth = [...next].flatMap(([id, { packages, at }]) => (packages ? [[id, { packages, at }]] : []))
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(worth))
  } catch {
    // No room, or not allowed: it is asked for again.
  }
}

/** What this window found before it was loaded anew. */
function kept(): ReadonlyMap<string, Checked> {
  try {
    const found: [string, Checked][] = JSON.parse(sessionStorage.getItem(KEPT) ?? '[]')
    return new Map(found.map(([id, each]) => [id, { ...each, checking: false }]))
  } catch {
    return new Map()
  }
}

atSignOut(() => {
  queue = []
  targets.value = undefined
  keep(new Map())
})
