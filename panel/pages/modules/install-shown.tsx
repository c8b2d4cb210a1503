import { type Answer, ApiError } from '../../../client/index.ts'
import { confirm } from '../../parts/dialog.tsx'
import { api } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'

export type Offered = Answer<'GET /api/registry/modules'>['modules'][number]

/** The length of a short commit id, as on forges. */
const SHORT = 10

/**
 * Installs exactly the listed commit of a module after a confirmation. Resolves with the deployment that it started, null when none was
 * needed, undefined when the user declined; calls `again` to reload the list when the forge has a newer commit.
 */
export async function installShown(
  { id, name, version, commit, has_backend }: Offered,
  again: () => Promise<void>,
): Promise<string | null | undefined> {
  const say = words().modules
  const text = (
    <>
      <p>{say.installCommit}</p>
      <p>
        <code class="mono" title={commit}>
          {commit.slice(0, SHORT)}
        </code>
      </p>
      <p>{has_backend ? say.codeRights : say.noCode}</p>
    </>
  )
  if (!(await confirm({ title: say.installTitle(name, version), text, verb: say.install, danger: has_backend })))
    return undefined
  try {
    return (await api('POST /api/registry/modules/{id}/install', { params: { id }, body: { commit } })).deployment
  } catch (error) {
    if (error instanceof ApiError && error.code === 'commit_changed') await again()
    throw error
  }
}
