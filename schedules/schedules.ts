/**
 * Schedules say when something happens by itself, and hold each of their times to one run, however many instances there
 * are and whatever the clock does. The room must not know targets, plans or jobs: `functions/schedules/` carries a run out.
 */
export {
  MissedReason,
  RunProgress,
  RunReboot,
  RunState,
  RunWave,
  ScheduleSettings,
  StopReason,
  Wave,
  WaveJob,
  WaveTarget,
} from './schedule.ts'
