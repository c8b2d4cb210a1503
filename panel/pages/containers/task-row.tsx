import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { type Asked, act, isUnderWay, putAway } from '../../wire/tasks.ts'
import { words } from '../../words/words.ts'

interface TaskRowProps {
  vmid: number
  name: string
  asked: Asked
  columns: number
}

/** How an action on a container goes, with what it has put out. */
export function TaskRow({ vmid, name, asked, columns }: TaskRowProps) {
  const { containers: say } = words()
  const { action, task, error } = asked
  const busy = isUnderWay(asked)
  const isWell = task?.exit_status === 'OK'
  return (
    <tr class="task">
      <td colSpan={columns}>
        {error !== undefined ? (
          <Problem error={error} retry={() => act(vmid, action)} />
        ) : (
          <div class="task-head">
            <span role="status">
              <Status is={busy ? 'run' : isWell ? 'ok' : 'err'}>
                {busy ? say.underWay[action] : isWell ? say.ended[action] : say.failed(task?.exit_status ?? '')}
              </Status>
            </span>
            {!busy && (
              <button type="button" class="button small plain" onClick={() => putAway(vmid)}>
                {say.putAway}
              </button>
            )}
          </div>
        )}
        {task && task.log.length > 0 && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by key.
          <section class="task-log" tabIndex={0} aria-label={say.logOf(name)}>
            <pre>{task.log.join('\n')}</pre>
          </section>
        )}
      </td>
    </tr>
  )
}
