import { batch, computed, type ReadonlySignal, signal } from '@preact/signals'
import { ApiError } from '../../client/index.ts'
import { type Change, foreseen, isSame, keyOf, needsCheck, type Plan, reused, type Selection } from '../nouns/plan.ts'
import { knownPackages, loadPackages, type Package } from './packages.ts'
import { askPlan, checkOf, checkToTheEnd } from './plans.ts'

/**
 * How far a plan is. `waiting`: others are made first. `empty`: there is nothing to do. `impossible`: findings forbid it. `failed`: it could not be asked for, or not be
 * started.
 */
export type Stage = 'waiting' | 'checking' | 'planning' | 'ready' | 'empty' | 'impossible' | 'failed'

interface Made {
  plan: Plan
  /** When it arrived, in ms since 1970 by the browser’s clock. */
  at: number
}

interface MakeOptions {
  /** Checks the target first, however new its last check is. */
  recheck?: boolean
  /** The user has just pressed the button that will start it, so a second press must not. */
  isPressed?: boolean
}

/** The plan of one target, from the last check to the current plan of a selection. */
export interface Planning {
  target: string
  stage: ReadonlySignal<Stage>
  selection: ReadonlySignal<Selection>
  /** The current plan of the selection; undefined while there is none. */
  current: ReadonlySignal<Made | undefined>
  /** The changes to show: those of the newest plan, or what the last check foresees, with the packages that were left out. */
  changes: ReadonlySignal<readonly Change[]>
  /** The packages of the last check; undefined until they are known. */
  known: ReadonlySignal<readonly Package[] | undefined>
  /** Whether the plan differs from what was shown before it arrived. */
  differs: ReadonlySignal<boolean>
  error: ReadonlySignal<unknown>
  /** Makes the plan, after a check if the last one is old. Never rejects: see `error`. */
  make(options?: MakeOptions): Promise<void>
  /** Changes the selection and makes the plan of it. */
  choose(change: Partial<Selection>): void
  /** Leaves a package out, or takes it in again. */
  leaveOut(change: Change, isOut: boolean): void
  /** Takes the same plan with other choices in it. */
  revise(plan: Plan): void
  /** Takes an error of the start: the plan is not current any more. */
  refuse(error: unknown): void
  stop(): void
}

/** Several boxes in a row make one request. */
const PAUSE_MS = 500
/** A list that has just changed must be seen before a key can start it. */
const SEEN_MS = 600

export function createPlanning(target: string, chosen: Partial<Selection>): Planning {
  const selection = signal<Selection>({ only: 'all', exclude: [], allow_remove: false, ...chosen })
  const stage = signal<Stage>('planning')
  const error = signal<unknown>()
  const known = signal<readonly Package[] | undefined>(knownPackages.peek().get(target))
  const newest = signal<Made>()
  const isCurrent = signal(false)
  const differs = signal(false)
  const leftOut = signal<ReadonlyMap<string, Change>>(new Map())
  let going = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let hasChecked = false

  // The service has found nothing to do, whatever the last check foresees.
  const isEmpty = computed(() => stage.value === 'empty')
  const taken = computed(
    () => newest.value?.plan.actions ?? (isEmpty.value ? [] : foreseen(known.value ?? [], selection.value)),
  )
  const changes = computed(() => {
    const there = new Set(taken.value.map(keyOf))
    const out = [...leftOut.value.values()].filter((change) => !there.has(keyOf(change)))
    return out.length === 0 ? taken.value : [...taken.value, ...out]
  })

  const readKnown = async (signal: AbortSignal) => {
    if (!checkOf(target)?.checked_at) return
    // The plan has the same packages, so an error here loses nothing.
    const found = await loadPackages(target, signal).catch(() => undefined)
    if (!found || signal.aborted) return
    batch(() => {
      known.value = found
      // Those that were left out from the beginning are shown as such.
      const { exclude } = selection.peek()
      const out = found.filter(({ name }) => exclude.includes(name))
      if (out.length > 0) leftOut.value = new Map([...out.map((one) => [keyOf(one), one] as const), ...leftOut.peek()])
    })
  }

  /** A package that was taken in again keeps its row until the plan that has it arrives. */
  const forgetTaken = () => {
    const { exclude } = selection.peek()
    const out = [...leftOut.peek()].filter(([, { name }]) => exclude.includes(name))
    if (out.length < leftOut.peek().size) leftOut.value = new Map(out)
  }

  const attempt = async (
    signal: AbortSignal,
    { recheck = false, isPressed = false }: MakeOptions,
    reading: Promise<void>,
  ) => {
    if (recheck || (!hasChecked && needsCheck(checkOf(target), Date.now()))) {
      stage.value = 'checking'
      await checkToTheEnd(target, signal)
      hasChecked = true
      await readKnown(signal)
    }
    stage.value = 'planning'
    const plan = await patiently(() => askPlan(target, selection.peek(), signal), signal)
    await reading
    if (signal.aborted) return
    const shown = taken.peek()
    const isOther = shown.length > 0 && !isSame(shown, plan.actions)
    const isFirst = newest.peek() === undefined
    batch(() => {
      newest.value = { plan: { ...plan, actions: reused(shown, plan.actions) }, at: Date.now() }
      forgetTaken()
      differs.value = isOther && isFirst
    })
    if (isOther || isPressed) await new Promise((resolve) => setTimeout(resolve, SEEN_MS))
    if (signal.aborted) return
    batch(() => {
      stage.value = 'ready'
      isCurrent.value = true
    })
  }

  const fail = (reason: unknown) =>
    batch(() => {
      isCurrent.value = false
      const code = reason instanceof ApiError ? reason.code : undefined
      stage.value = code === 'plan_empty' ? 'empty' : code === 'plan_impossible' ? 'impossible' : 'failed'
      if (stage.value !== 'failed') {
        newest.value = undefined
        forgetTaken()
      }
      error.value = reason
    })

  const make = async (options: MakeOptions = {}) => {
    clearTimeout(timer)
    going.abort()
    going = new AbortController()
    const { signal } = going
    batch(() => {
      isCurrent.value = false
      error.value = undefined
      differs.value = false
    })
    const reading = readKnown(signal)
    stage.value = 'waiting'
    try {
      await inSlot(signal, () => attempt(signal, options, reading))
    } catch (reason) {
      if (!signal.aborted) fail(reason)
    }
  }

  const change = (next: Partial<Selection>, pause: number) => {
    selection.value = { ...selection.peek(), ...next }
    isCurrent.value = false
    // A check that runs is not interrupted: the plan after it is of the newest selection.
    if (stage.peek() === 'checking' || stage.peek() === 'waiting') return
    going.abort()
    stage.value = 'planning'
    clearTimeout(timer)
    timer = setTimeout(() => void make(), pause)
  }

  return {
    target,
    stage,
    selection,
    current: computed(() => (isCurrent.value ? newest.value : undefined)),
    changes,
    known,
    differs,
    error,
    make,
    choose: (next) => change(next, 0),
    leaveOut(one, isOut) {
      // Every architecture of a package goes with its name.
      const own = changes.peek().filter(({ name }) => name === one.name)
      if (isOut) leftOut.value = new Map([...leftOut.peek(), ...own.map((each) => [keyOf(each), each] as const)])
      const others = selection.peek().exclude.filter((name) => name !== one.name)
      change({ exclude: isOut ? [...others, one.name] : others }, PAUSE_MS)
    },
    revise(plan) {
      const made = newest.peek()
      if (made?.plan.id === plan.id) newest.value = { ...made, plan: { ...plan, actions: made.plan.actions } }
    },
    refuse: fail,
    stop() {
      clearTimeout(timer)
      going.abort()
    },
  }
}

/** Requests in a row that find the service busy. */
const TRIES = 5

/** Asks again where the service is busy with other plans. */
async function patiently<answer>(ask: () => Promise<answer>, signal: AbortSignal): Promise<answer> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'plans_busy' || left === 0) throw error
      await new Promise((resolve) => setTimeout(resolve, (error.retryAfter ?? 1) * 1000))
      signal.throwIfAborted()
    }
  }
}

/** Plans are made this many at a time. */
const AT_ONCE = 4
let busy = 0
const queue: (() => void)[] = []

/** Does the work when fewer than four others are under way, in the order of the calls. */
async function inSlot(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  // A place that becomes free is handed over, so that nobody takes it in between.
  if (busy >= AT_ONCE) await new Promise<void>((resolve) => queue.push(resolve))
  else busy += 1
  try {
    signal.throwIfAborted()
    await work()
  } finally {
    const next = queue.shift()
    if (next) next()
    else busy -= 1
  }
}
