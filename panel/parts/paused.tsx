import { pauseSchedules } from '../wire/schedules.ts'
import { schedulesPaused } from '../wire/checks.ts'
import { isAdmin } from '../wire/panel.ts'
import { words } from '../words/words.ts'
import { Action, useAct } from './action.tsx'
import { Problem } from './problem.tsx'
import { Status } from './status.tsx'
import { Ago } from './time.tsx'

/** Says on every page that no schedule starts, who has paused them, and since when. Administrators resume them here. */
export function SchedulesPaused() {
  const { shell } = words()
  const resume = useAct(() => pauseSchedules(false))
  const paused = schedulesPaused.value
  return (
    <>
      <div class="away" role="status">
        {paused && (
          <p>
            <Status is="off" hidden />
            <span class="grow">
              <Ago at={paused.at} say={(ago) => shell.schedulesPaused(paused.by, ago)} />
            </span>
            {isAdmin.value && (
              <Action act={resume} class="small">
                {shell.resumeSchedules}
              </Action>
            )}
          </p>
        )}
      </div>
      <Problem error={resume.error.value} />
    </>
  )
}
