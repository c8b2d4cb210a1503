import { useEffect } from 'preact/hooks'
import type { Answer } from '../../client/index.ts'
import { Action, useAct } from '../parts/action.tsx'
import { Heading } from '../parts/heading.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { deployment, followDeployment, keptDeployment } from '../wire/deployment.ts'
import { useLoad } from '../wire/load.ts'
import { api, isAdmin } from '../wire/panel.ts'
import { fromService, words } from '../words/words.ts'
import { DeploymentLog } from './modules/deployment-log.tsx'
import { type Installed, InstalledModule } from './modules/installed-module.tsx'
import { OfferedModule } from './modules/offered-module.tsx'

/** Installed and available modules, and the progress of a change. */
export function ModulesPage() {
  const say = words().modules
  const installed = useLoad(readInstalled)
  const offered = useLoad((signal) => readOffered(signal))
  const reload = async () => {
    await Promise.all([installed.reload(), offered.reload()])
  }
  const refresh = useAct(async () => {
    const anew = await api('GET /api/registry/modules', { query: { refresh: '1' } })
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
  const onForge = new Map((offered.data.value?.modules ?? []).map((each) => [each.id, each]))
  return (
    <>
      <Heading title={say.title}>{isAdmin.value && <Action act={refresh}>{say.refresh}</Action>}</Heading>
      {deployment.value && <DeploymentLog of={deployment.value} />}
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
            const [added, core] = [found.filter(({ is_core }) => !is_core), found.filter(({ is_core }) => is_core)]
            return (
              <>
                {added.length === 0 && <p class="empty">{say.noneInstalled}</p>}
                {added.length > 0 && <ul class="list modules">{added.map(row)}</ul>}
                <details class="core">
                  <summary>{say.coreModules(core.length)}</summary>
                  <ul class="list modules">{core.map(row)}</ul>
                </details>
              </>
            )
          }}
        </Loaded>
      </section>
      {isAdmin.value && (
        <section aria-label={say.available}>
          <h2>{say.available}</h2>
          <Loaded of={offered} rows={2}>
            {({ modules, error }) => {
              const others = modules.filter((each) => !each.installed)
              return (
                <>
                  {error && (
                    <div class="notice" role="status">
                      <p>{modules.length > 0 ? say.forgeError : say.forgeErrorEmpty}</p>
                      <p class="dim">{fromService(error)}</p>
                    </div>
                  )}
                  {others.length === 0 && !error && <p class="empty">{say.noneAvailable}</p>}
                  {others.length > 0 && (
                    <ul class="list modules">
                      {others.map((each) => (
                        <OfferedModule key={each.id} module={each} change={change} again={refresh.run} />
                      ))}
                    </ul>
                  )}
                </>
              )
            }}
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
  return isAdmin.value ? api('GET /api/registry/modules', { signal }) : { modules: [], error: null }
}
