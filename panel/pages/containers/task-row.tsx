import { useRef } from 'preact/hooks'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { type Asked, act, dismissAction, isUnderWay } from '../../wire/tasks.ts'
import { words } from '../../words/words.ts'

interface TaskRowProps {
  vmid: number
  name: string
  asked: Asked
  columns: number
}

/** The progress of an action on a container, with its log. */
export function TaskRow({ vmid, name, asked, columns }: TaskRowProps) {
  const { containers: say } = words()
  const row = useRef<HTMLTableRowElement>(null)
  const { action, task, error } = asked
  const busy = isUnderWay(asked)
  const isWell = task?.exit_status === 'OK'
  const hide = () => {
    // The focused element disappears, so the container row takes the focus.
    row.current?.previousElementSibling?.querySelector<HTMLElement>('.container-actions [popovertarget]')?.focus()
    dismissAction(vmid)
  }
  return (
    <tr class="task" ref={row}>
      <td colSpan={columns}>
        <div class="task-head">
          {error !== undefined ? (
            <Problem error={error} retry={() => act(vmid, action)} />
          ) : (
            <span role="status">
              <Status is={busy ? 'run' : isWell ? 'ok' : 'err'}>
                {busy ? say.underWay[action] : isWell ? say.ended[action] : say.failed(task?.exit_status ?? '')}
              </Status>
            </span>
          )}
          {!busy && (
            <button type="button" class="button small plain" onClick={hide}>
              {say.hide}
            </button>
          )}
        </div>
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
