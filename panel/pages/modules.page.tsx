import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Answer } from '../../client/index.ts'
import { Action, useAct } from '../parts/action.tsx'
import { Heading } from '../parts/heading.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { deployment, followDeployment, keptDeployment } from '../wire/deployment.ts'
import { reconnects } from '../wire/connection.ts'
import { useLoad } from '../wire/load.ts'
import { readMenuEntries } from '../wire/module-page.ts'
import { api, isAdmin } from '../wire/panel.ts'
import { words } from '../words/words.ts'
import { AvailableModules } from './modules/available-modules.tsx'
import { type Installed, InstalledModule } from './modules/installed-module.tsx'
import { LooseDeployment } from './modules/row-deployment.tsx'
import { registryWords } from './modules/words.ts'

/** The lists are short enough without a filter below this number. */
const FILTER_THRESHOLD = 6
/** The interval in ms at which a list that is still being read is shown. */
const READING_MS = 2_000

/** Installed and available modules, and the progress of a change. */
export function ModulesPage() {
  const say = words().modules
  // A change of modules restarts the service, also one that was begun elsewhere.
  const installed = useLoad(readInstalled, [reconnects.value])
  const filter = useSignal('')
  const isReading = useSignal(false)
  const offered = useLoad(
    async (signal) => {
      const found = await readOffered(signal)
      isReading.value = found.reading
      return found
    },
    [],
    isReading.value ? { everyMs: READING_MS } : {},
  )
  const reload = async () => {
    await Promise.all([installed.reload(), offered.reload(), readMenuEntries().catch(() => {})])
  }
  const refresh = useAct(async () => {
    const anew = await api('GET /api/registry/modules', { query: { refresh: '1' } })
    isReading.value = anew.reading
    offered.set(anew)
    await installed.reload()
  })
  /** Makes a change and follows the deployment if the change needs a restart. */
  const change = async (deploymentId: string | null) => {
    if (deploymentId) await followDeployment(deploymentId)
    await reload()
  }
  useEffect(() => {
    const kept = keptDeployment()
    if (isAdmin.peek() && kept && !deployment.peek()) void change(kept)
  }, [])
  const wanted = filter.value.trim().toLowerCase()
  const matches = (each: Pick<Installed, 'id' | 'name' | 'description' | 'repository'>) =>
    [each.id, each.name, each.description, each.repository ?? ''].some((text) => text.toLowerCase().includes(wanted))
  const all = (offered.data.value?.modules.length ?? 0) + (installed.data.value?.length ?? 0)
  const onForge = new Map((offered.data.value?.modules ?? []).map((each) => [each.id, each]))
  return (
    <>
      <Heading title={say.title}>
        {isAdmin.value && all >= FILTER_THRESHOLD && (
          <input
            type="search"
            class="filter"
            aria-label={registryWords().filterBy}
            placeholder={registryWords().filter}
            data-key="/"
            value={filter.value}
            onInput={({ currentTarget }) => {
              filter.value = currentTarget.value
            }}
          />
        )}
        {isAdmin.value && <Action act={refresh}>{say.refresh}</Action>}
      </Heading>
      <LooseDeployment />
      <section aria-label={say.installed}>
        <h2>{say.installed}</h2>
        <Loaded of={installed} rows={4}>
          {(found) => {
            const row = (each: Installed) => (
              <InstalledModule
                key={each.id}
                module={each}
                newest={onForge.get(each.id)}
                again={refresh.run}
                change={change}
              />
            )
            const matching = found.filter(matches)
            const added = matching.filter(({ is_core }) => !is_core)
            const core = matching.filter(({ is_core }) => is_core)
            if (wanted && matching.length === 0) return <p class="empty">{registryWords().noMatch}</p>
            return (
              <>
                {added.length === 0 && !wanted && <p class="empty">{say.noneInstalled}</p>}
                {added.length > 0 && <ul class="list modules">{added.map(row)}</ul>}
                {core.length > 0 && (
                  <details class="core" open={wanted !== ''}>
                    <summary>{say.coreModules(core.length)}</summary>
                    <ul class="list modules">{core.map(row)}</ul>
                  </details>
                )}
              </>
            )
          }}
        </Loaded>
      </section>
      {isAdmin.value && (
        <section aria-label={say.available}>
          <h2>{say.available}</h2>
          <Loaded of={offered} rows={2}>
            {(found) => (
              <AvailableModules
                of={found}
                matches={matches}
                isFiltered={wanted !== ''}
                installed={new Set(installed.data.value?.map(({ id }) => id))}
                change={change}
                again={refresh.run}
              />
            )}
          </Loaded>
        </section>
      )}
    </>
  )
}

/** All modules; for administrators with the problems of installed modules. */
async function readInstalled(signal: AbortSignal): Promise<Installed[]> {
  const [all, repair] = await Promise.all([
    api('GET /api/modules', { signal }),
    isAdmin.value ? api('GET /api/repair/modules', { signal }) : [],
  ])
  const wrong = new Map(repair.map(({ id, problem, detail }) => [id, { problem, detail }]))
  return all.map((each) => ({ ...each, ...wrong.get(each.id) }))
}

async function readOffered(signal: AbortSignal): Promise<Answer<'GET /api/registry/modules'>> {
  if (isAdmin.value) return api('GET /api/registry/modules', { signal })
  return { modules: [], error: null, left: [], reading: false, progress: null, read_at: null }
}
