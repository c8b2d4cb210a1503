import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import { arranged, moved } from '../nouns/order.ts'
import { useAct } from '../parts/action.tsx'
import { Heading } from '../parts/heading.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Problem } from '../parts/problem.tsx'
import { useContainers } from '../wire/containers.ts'
import { type Arrangement, arrangement, readArrangement, storeArrangement } from '../wire/layout.ts'
import { useLoad } from '../wire/load.ts'
import { isAdmin } from '../wire/panel.ts'
import { words } from '../words/words.ts'
import { AttentionList, useAttention } from './dashboard/attention-list.tsx'
import { CARDS, CardFrame, type CardId, HiddenCards } from './dashboard/card-frame.tsx'
import { ContainersCard } from './dashboard/containers-card.tsx'
import { HostCard } from './dashboard/host-card.tsx'
import { JobsCard } from './dashboard/jobs-card.tsx'
import { ShortcutsCard } from './dashboard/shortcuts-card.tsx'

/** Everybody who may not work on every target needs it here. */
const Reach = lazy(async () => (await import('../parts/access/reach.tsx')).Counted)

/** Wide cards form the left column, the others the right one. */
const CONTENT: Readonly<Record<CardId, { Content: ComponentType; isWide: boolean }>> = {
  containers: { Content: ContainersCard, isWide: true },
  jobs: { Content: JobsCard, isWide: true },
  host: { Content: HostCard, isWide: false },
  shortcuts: { Content: ShortcutsCard, isWide: false },
}

/** The problems first, then the cards in the user's order. Each card loads and fails on its own. */
export function DashboardPage() {
  const say = words().dashboard
  const edits = useSignal(false)
  const focused = useSignal<string>()
  useContainers()
  const known = useAttention()
  const layout = useLoad(readArrangement)
  /** No card appears until the arrangement is known or could not be read, so that cards never jump. */
  const isArranged = arrangement.value !== undefined || layout.error.value !== undefined
  const { order = [], hidden = [] } = arrangement.value ?? {}
  const shown = arranged(CARDS, order).filter((id) => !hidden.includes(id))
  const store = useAct(storeArrangement)
  const change = (next: Partial<Arrangement>, focus: string) => {
    focused.value = focus
    arrangement.value = { order: arranged(CARDS, order), hidden, ...next }
    // Where it runs already, it saves this change too.
    void store.run()
  }
  // The pressed button may have moved or disappeared. Before the paint, or the next key would come first.
  useLayoutEffect(() => {
    if (!focused.value) return
    const all = [...document.querySelectorAll<HTMLElement>('[data-edit]')]
    const same = all.find(({ dataset }) => dataset.edit === focused.value)
    const target = same && !same.hasAttribute('disabled') ? same : all[0]
    target?.focus()
  }, [arrangement.value])
  const column = (isWide: boolean) => shown.filter((id) => CONTENT[id].isWide === isWide)
  const card = (id: CardId, n: number, of: readonly CardId[]) => {
    const { Content } = CONTENT[id]
    const move = (by: -1 | 1) =>
      change({ order: [...moved(of, id, by), ...shown.filter((each) => !of.includes(each)), ...hidden] }, `${by} ${id}`)
    return (
      <CardFrame
        key={id}
        id={id}
        edits={edits.value}
        first={n === 0}
        last={n === of.length - 1}
        move={move}
        hide={() => change({ hidden: [...hidden, id] }, `show ${id}`)}
      >
        <Content />
      </CardFrame>
    )
  }
  return (
    <>
      <Heading title={known.title ?? say.title}>
        {edits.value && (
          <button type="button" class="button" onClick={() => change({ order: [], hidden: [] }, 'finish')}>
            {say.reset}
          </button>
        )}
        {arrangement.value && (
          <button
            type="button"
            class="button"
            data-edit="finish"
            aria-pressed={edits.value}
            onClick={() => {
              focused.value = undefined
              edits.value = !edits.value
            }}
          >
            {edits.value ? say.finish : say.customize}
          </button>
        )}
      </Heading>
      <Problem error={store.error.value} />
      <Problem error={layout.error.value} retry={layout.reload} />
      {!isAdmin.value && <Reach />}
      <AttentionList known={known} />
      {edits.value && (
        <HiddenCards
          hidden={CARDS.filter((id) => hidden.includes(id))}
          show={(id) => change({ hidden: hidden.filter((each) => each !== id) }, `hide ${id}`)}
        />
      )}
      {isArranged && (
        <div class="cards">
          <div class="column">{column(true).map(card)}</div>
          <div class="column">{column(false).map(card)}</div>
        </div>
      )}
    </>
  )
}
