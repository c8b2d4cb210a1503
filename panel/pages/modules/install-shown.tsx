import { type Signal, signal } from '@preact/signals'
import { type Answer, ApiError } from '../../../client/index.ts'
import { confirm } from '../../parts/dialog.tsx'
import { api } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'
import { Changes } from './changes.tsx'
import { type ChosenRelease, CommitName, ReleaseChoice } from './release-choice.tsx'
import { noteStart } from './row-deployment.tsx'
import { registryWords } from './words.ts'

export type Offered = Answer<'GET /api/registry/modules'>['modules'][number]

/**
 * Installs exactly the shown release of a module after a confirmation. Resolves with the deployment that it started, null when none was
 * needed, undefined when the user declined; calls `again` to reload the list when the forge has a newer commit.
 */
export async function installShown(
  { id, name, version, commit, repository, has_backend, installed_version }: Offered,
  again: () => Promise<void>,
): Promise<string | null | undefined> {
  const say = words().modules
  const chosen = signal<ChosenRelease>({ commit })
  const text = (
    <>
      <ReleaseChoice id={id} repository={repository} tip={{ commit, version }} chosen={chosen} />
      <CodeNote hasCode={has_backend} chosen={chosen} />
    </>
  )
  const title = <Title name={name} version={version} installed={installed_version} chosen={chosen} />
  if (!(await confirm({ title, text, verb: say.install, danger: has_backend }))) return undefined
  return installed(id, chosen.value, again)
}

interface TitleProps {
  name: string
  /** The newest version, and the installed one if there is one. */
  version: string
  installed: string | null
  chosen: Signal<ChosenRelease>
}

/** Names the release that is chosen, and tells an update from an installation. */
function Title({ name, version, installed, chosen }: TitleProps) {
  const offer = registryWords()
  const { tag } = chosen.value
  if (tag !== undefined) return offer.installRelease(name, tag)
  if (installed === null) return words().modules.installTitle(name)
  return installed === version ? offer.updateTitle(name) : offer.updateTo(name, version)
}

/** Tells the rights of code. Only the newest release is known to have none. */
function CodeNote({ hasCode, chosen }: { hasCode: boolean; chosen: Signal<ChosenRelease> }) {
  const mayHaveCode = hasCode || chosen.value.tag !== undefined
  return <p>{mayHaveCode ? words().modules.codeRights : registryWords().noCode}</p>
}

interface Returning {
  id: string
  name: string
  repository: string | null
  /** The commit of the current release. */
  commit: string | null
}

/** Returns a module to the release before, after a confirmation. Resolves like `installShown`. */
export async function returnTo(
  { id, name, repository, commit }: Returning,
  previous: { version: string; commit: string },
  again: () => Promise<void>,
): Promise<string | null | undefined> {
  const say = words().modules
  const offer = registryWords()
  const text = (
    <>
      <p>{offer.returnText}</p>
      <p>
        <CommitName of={previous.commit} />
      </p>
      {commit && <Changes id={id} repository={repository} from={commit} to={previous.commit} />}
      <p>{say.codeRights}</p>
    </>
  )
  const title = offer.returnTitle(name, previous.version)
  if (!(await confirm({ title, text, verb: offer.returnVerb, danger: true }))) return undefined
  return installed(id, { commit: previous.commit, previous: true }, again)
}

/** Fetches the files of the installed release again. Resolves with the deployment. */
export function fetchAgain(id: string, commit: string, again: () => Promise<void>): Promise<string | null> {
  return installed(id, { commit, pinned: true }, again)
}

async function installed(
  id: string,
  body: ChosenRelease & { previous?: true; pinned?: true },
  again: () => Promise<void>,
): Promise<string | null> {
  try {
    const { deployment } = await api('POST /api/registry/modules/{id}/install', { params: { id }, body })
    noteStart(deployment, id)
    return deployment
  } catch (error) {
    if (error instanceof ApiError && error.code === 'commit_changed') await again()
    throw error
  }
}
