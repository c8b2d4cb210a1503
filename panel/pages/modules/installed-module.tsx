import { useRef } from 'preact/hooks'
import type { Answer } from '../../../client/index.ts'
import { safeLink } from '../../nouns/links.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status, type StatusKind } from '../../parts/status.tsx'
import { toast } from '../../parts/toast.tsx'
import { api, isAdmin } from '../../wire/panel.ts'
import { fromService, words } from '../../words/words.ts'
import { fetchAgain, installShown, type Offered, returnTo } from './install-shown.tsx'
import { noteStart, RowDeployment } from './row-deployment.tsx'
import { registryWords, unbroken } from './words.ts'

export type Installed = Answer<'GET /api/modules'>[number] & {
  problem?: Answer<'GET /api/repair/modules'>[number]['problem']
  detail?: string | null
}

interface InstalledModuleProps {
  module: Installed
  /** The entry of the forge for this module. */
  newest: Offered | undefined
  /** Called with the new deployment or null; resolves when everything was reloaded. */
  change(deployment: string | null): Promise<void>
  /** Reloads the list of the forge. */
  again(): Promise<void>
}

/** An installed module with its state and the actions of administrators. */
export function InstalledModule({ module, newest, change, again }: InstalledModuleProps) {
  const { modules: say } = words()
  const offer = registryWords()
  const { id, name, version, description, is_core, is_enabled, fault, nav_href, commit, tag, previous } = module
  const problem = module.problem ?? (fault === null ? undefined : 'taken_out')
  const detail = module.detail ?? fault
  const row = useRef<HTMLLIElement>(null)
  const toggle = useAct(async () => {
    const operation = is_enabled ? 'POST /api/modules/{id}/disable' : 'POST /api/modules/{id}/enable'
    const { deployment } = await api(operation, { params: { id } })
    noteStart(deployment, id)
    await change(deployment)
    if (!deployment) toast(is_enabled ? say.disabled(name) : say.enabled(name))
  })
  const retry = useAct(async () => {
    const { deployment } = await api('POST /api/modules/{id}/enable', { params: { id } })
    noteStart(deployment, id)
    await change(deployment)
    if (!deployment) toast(say.enabled(name))
  })
  /** Follows what an installation has started, unless the user declined it. */
  const follow = async (starting: Promise<string | null | undefined>) => {
    const deployment = await starting
    if (deployment === undefined) return
    await change(deployment)
    if (!deployment) toast(say.isInstalled(name))
  }
  const update = useAct(async () => newest && follow(installShown(newest, again)))
  const goBack = useAct(async () => previous && follow(returnTo(module, previous, again)))
  const pin = useAct(async () => commit && follow(fetchAgain(id, commit, again)))
  const remove = useAct(async () => {
    const question = { title: say.removeTitle(name), text: say.removeText, verb: say.remove, danger: true, typed: name }
    if (!(await confirm(question))) return
    await api('DELETE /api/repair/modules/{id}', { params: { id } })
    toast(say.removed(name))
    // The focused row disappears.
    document.querySelector<HTMLElement>('h1')?.focus()
    await change(null)
  })
  const isThere = problem === undefined || problem === null || problem === 'not_in_registry'
  const link = is_enabled && isThere ? safeLink(nav_href) : undefined
  const [kind, word] = stateOf()

  function stateOf(): [StatusKind, string] {
    if (problem) return [problem === 'not_in_registry' ? 'warn' : 'err', say.problem[problem]]
    if (is_core) return ['ok', say.core]
    return is_enabled ? ['ok', say.on] : ['off', say.off]
  }
  return (
    <li ref={row}>
      <Status is={kind} hidden />
      <div class="grow">
        <p>
          <strong>{is_core ? fromService(name) : name}</strong> {!is_core && <span class="dim num">{version}</span>}{' '}
          {commit && (
            <span class="dim mono small" title={commit}>
              {tag ?? commit.slice(0, 10)}
            </span>
          )}
        </p>
        <p class="dim">{is_core ? fromService(description) : description}</p>
        <p class={problem ? `${kind}-text` : 'dim'}>{word}</p>
        {detail && <p class="dim mono">{unbroken(fromService(detail))}</p>}
        <Problem
          error={
            toggle.error.value ??
            retry.error.value ??
            update.error.value ??
            goBack.error.value ??
            pin.error.value ??
            remove.error.value
          }
        />
      </div>
      {!is_core && (
        <div class="acts">
          {link && (
            <a class="button small" href={link} aria-label={say.openOf(name)}>
              {say.open}
            </a>
          )}
          {isAdmin.value && (
            <>
              {newest && newest.commit !== commit && (
                <Action act={update} class="small primary" label={say.updateOf(name, newest.version)}>
                  {newest.version === version ? offer.updateCommit : say.update(newest.version)}
                </Action>
              )}
              {problem === 'files_missing' && commit && (
                <Action act={pin} class="small primary" label={offer.fetchAgainOf(name)}>
                  {offer.fetchAgain(tag ?? commit.slice(0, 10))}
                </Action>
              )}
              {fault !== null && (
                <Action act={retry} class="small" label={say.retryOf(name)}>
                  {say.retry}
                </Action>
              )}
              <Action act={toggle} class="small" label={is_enabled ? say.disableOf(name) : say.enableOf(name)}>
                {is_enabled ? say.disable : say.enable}
              </Action>
              <Menu label={say.moreOf(name)}>
                {previous && (
                  <button type="button" onClick={() => void goBack.run()}>
                    {offer.returnTo(previous.version)}
                  </button>
                )}
                {newest && (
                  <button type="button" onClick={() => void update.run()}>
                    {offer.chooseRelease}
                  </button>
                )}
                <button type="button" onClick={() => void remove.run()}>
                  {say.remove}
                </button>
              </Menu>
            </>
          )}
        </div>
      )}
      <RowDeployment module={id} />
    </li>
  )
}
