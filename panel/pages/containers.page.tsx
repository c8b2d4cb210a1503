import { useSignal } from '@preact/signals'
import { type Order, sorted } from '../nouns/order.ts'
import { Reach } from '../parts/access/reach.tsx'
import { Action, useAct } from '../parts/action.tsx'
import { Heading } from '../parts/heading.tsx'
import { Aged, Placeholder } from '../parts/loaded.tsx'
import { Problem } from '../parts/problem.tsx'
import { containers, containersAt, containersError, readContainers, useContainers } from '../wire/containers.ts'
import { isOperator } from '../wire/panel.ts'
import { words } from '../words/words.ts'
import { ContainerRow } from './containers/container-row.tsx'
import { HostLine } from './containers/host-line.tsx'
import { type Column, SORT_KEYS, SortHeader } from './containers/sort-header.tsx'

/** The list is short enough without a filter below this number. */
const FILTER_THRESHOLD = 6

/** All containers with their state and actions. */
export function ContainersPage() {
  const { containers: say } = words()
  const filter = useSignal('')
  const order = useSignal<Order<Column>>()
  const refresh = useAct(readContainers)
  useContainers()
  const all = containers.value
  const wanted = filter.value.trim().toLowerCase()
  const matching = (all ?? []).filter(({ name, vmid, tags }) =>
    [name, `${vmid}`, ...(tags ?? [])].some((word) => word.toLowerCase().includes(wanted)),
  )
  const shown = order.value ? sorted(matching, SORT_KEYS[order.value.by], order.value.descending) : matching
  const hasFigures = all?.some(({ cpu, mem }) => cpu !== null || mem !== null) ?? false
  const running = all?.filter(({ status }) => status === 'running').length ?? 0
  return (
    <>
      <Heading title={say.title} note={all && say.summary(running, all.length)}>
        {all && all.length >= FILTER_THRESHOLD && (
          <input
            type="search"
            class="filter"
            aria-label={say.filterBy}
            placeholder={say.filter}
            data-key="/"
            value={filter.value}
            onInput={({ currentTarget }) => {
              filter.value = currentTarget.value
            }}
          />
        )}
        <Action act={refresh}>{say.refresh}</Action>
      </Heading>
      <Reach />
      <HostLine />
      <Problem error={containersError.value} retry={readContainers} />
      {all && containersError.value !== undefined && containersAt.value !== undefined && (
        <Aged at={containersAt.value} />
      )}
      {!all && containersError.value === undefined && <Placeholder rows={5} />}
      {all?.length === 0 && <p class="empty">{say.none}</p>}
      {all && all.length > 0 && shown.length === 0 && <p class="empty">{say.noMatch}</p>}
      {shown.length > 0 && (
        <div class="scroll containers-table">
          <table aria-label={say.title}>
            <thead>
              <tr data-label={say.sortBy}>
                <SortHeader column="name" order={order} label={say.name} />
                {hasFigures ? (
                  <>
                    <th scope="col" class="state">
                      {say.state}
                    </th>
                    <SortHeader column="cpu" order={order} label={say.cpu} class="cpu" />
                    <SortHeader column="mem" order={order} label={say.memory} class="memory" />
                    <SortHeader column="disk" order={order} label={say.disk} class="disk" />
                    <SortHeader column="uptime" order={order} label={say.uptime} class="uptime end" />
                  </>
                ) : (
                  <th scope="col" class="state">
                    {say.state}
                  </th>
                )}
                {isOperator.value && (
                  <th scope="col" class="end act">
                    <span class="unseen">{say.actions}</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {shown.map((each) => (
                <ContainerRow key={each.vmid} container={each} hasFigures={hasFigures} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {hasFigures && <p class="dim since">{say.since}</p>}
    </>
  )
}
