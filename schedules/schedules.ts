/**
 * Schedules say when something happens by itself, and hold each of their times to one run, however many instances there
 * are and whatever the clock does. The room must not know targets, plans or jobs: `functions/schedules/` carries a run out.
 */
export { countTimes, CronPattern, cronProblem, nextTimes, type Timetable, timetable } from './cron.ts'
export {
  LEFT_OUT,
  MissedReason,
  PausedBy,
  pingSecret,
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
export {
  CLOCK_SKEW_MS,
  closesAt,
  MOST_COUNTED,
  newProgress,
  type SlotFacts,
  type TakenSlots,
  takeSlots,
} from './slots.ts'
export { isZone, TimeZone } from './zone.ts'
