import { Problem } from '../../parts/problem.tsx'
import { Status, type StatusKind } from '../../parts/status.tsx'
import { dismissDeployment, type FollowedDeployment, followDeployment } from '../../wire/deployment.ts'
import { fromService, words } from '../../words/words.ts'

const STATUS: Readonly<Record<string, StatusKind>> = { done: 'ok', failed: 'err', rolled_back: 'warn' }

/** The log and result of a deployment, also across the restart of the service. */
export function DeploymentLog({ of: { id, told, isAway, error } }: { of: FollowedDeployment }) {
  const say = words().modules
  const ended = told ? told.finished_at !== null : false
  return (
    <section class="deployment" aria-label={say.deployment(told?.module ?? '')}>
      <header>
        <span role="status">
          <Status is={told && ended ? (STATUS[told.state] ?? 'unknown') : 'run'}>
            <strong>{told?.module}</strong> {told && (isAway && !ended ? say.away : say.state[told.state])}
          </Status>
        </span>
        {(ended || error !== undefined) && (
          <button type="button" class="button small" onClick={dismissDeployment}>
            {say.hide}
          </button>
        )}
      </header>
      <Problem error={error} retry={() => followDeployment(id)} />
      {told?.error && <p class="err-text">{fromService(told.error)}</p>}
      {told && told.log.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by key.
        <section class="told" tabIndex={0} aria-label={say.deployment(told.module)}>
          <ol>
            {told.log.map((line, n) => (
              <li key={n}>{fromService(line)}</li>
            ))}
          </ol>
        </section>
      )}
    </section>
  )
}
