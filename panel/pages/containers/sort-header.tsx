import type { Signal } from '@preact/signals'
import { ArrowDown, ArrowUp } from 'lucide'
import type { Order, SortKey } from '../../nouns/order.ts'
import { Icon } from '../../parts/icon.tsx'
import type { Container } from '../../wire/containers.ts'

/** The value of a container in each column that sorts; null comes last. */
export const SORT_KEYS = {
  name: ({ name }: Container): SortKey => name,
  cpu: ({ cpu }: Container): SortKey => cpu,
  mem: ({ mem, maxmem }: Container): SortKey => (mem !== null && maxmem ? mem / maxmem : null),
  disk: ({ disk, maxdisk }: Container): SortKey => (disk !== null && maxdisk ? disk / maxdisk : null),
  uptime: ({ uptime }: Container): SortKey => uptime || null,
} as const

export type Column = keyof typeof SORT_KEYS

interface SortHeaderProps {
  column: Column
  order: Signal<Order<Column> | undefined>
  label: string
  class?: string
}

/** A column heading that sorts: figures descending, names ascending; the next press reverses the order, the third one removes it. */
export function SortHeader({ column, order, label, class: kind }: SortHeaderProps) {
  const isBy = order.value?.by === column
  const descending = order.value?.descending ?? false
  const first = column !== 'name'
  const turn = () => {
    if (!isBy) order.value = { by: column, descending: first }
    else order.value = descending === first ? { by: column, descending: !first } : undefined
  }
  return (
    <th scope="col" class={kind} aria-sort={isBy ? (descending ? 'descending' : 'ascending') : 'none'}>
      <button type="button" class="sort" onClick={turn}>
        {label}
        {isBy && <Icon of={descending ? ArrowDown : ArrowUp} />}
      </button>
    </th>
  )
}
