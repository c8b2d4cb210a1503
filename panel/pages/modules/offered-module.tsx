import { safeLink } from '../../nouns/links.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { Problem } from '../../parts/problem.tsx'
import { toast } from '../../parts/toast.tsx'
import { words } from '../../words/words.ts'
import { installShown, type Offered } from './install-shown.tsx'
import { RowDeployment } from './row-deployment.tsx'
import { registryWords } from './words.ts'

interface OfferedModuleProps {
  module: Offered
  change(deployment: string | null): Promise<void>
  /** Reloads the list of the forge. */
  again(): Promise<void>
}

/** A module on the forge that is not installed. */
export function OfferedModule({ module, change, again }: OfferedModuleProps) {
  const { modules: say } = words()
  const { name, version, description, has_backend, repository } = module
  const link = safeLink(repository)
  const install = useAct(async () => {
    const deployment = await installShown(module, again)
    if (deployment === undefined) return
    await change(deployment)
    if (!deployment) toast(say.isInstalled(name))
  })
  return (
    <li>
      <div class="grow">
        <p>
          <strong>{name}</strong> <span class="dim num">{version}</span>
        </p>
        <p class="dim">{description}</p>
        {has_backend && <p class="dim">{say.withCode}</p>}
        {link && (
          <p>
            <a class="mono" href={link} target="_blank" rel="noreferrer noopener">
              {repository}
            </a>
          </p>
        )}
        <Origin of={module} />
        <Problem error={install.error.value} retry={install.run} />
      </div>
      <Action act={install} class="small" label={say.installOf(name)}>
        {say.install}
      </Action>
      <RowDeployment module={module.id} />
    </li>
  )
}

/** The repository is not everybody's, or comes from another one. */
function Origin({ of: { is_private, is_fork, is_mirror, origin } }: { of: Offered }) {
  const say = registryWords()
  const link = safeLink(origin)
  const kind = is_fork ? (link ? say.isForkOf : say.isFork) : is_mirror ? (link ? say.isMirrorOf : say.isMirror) : ''
  return (
    <>
      {is_private && <p class="dim">{say.isPrivate}</p>}
      {kind && (
        <p class="dim">
          {kind}{' '}
          {link && (
            <a class="mono" href={link} target="_blank" rel="noreferrer noopener">
              {origin}
            </a>
          )}
        </p>
      )}
    </>
  )
}
