/*
 * Jobs: commands that run on the host detached from the SSH connection. A job survives a lost connection, a restart of the
 * service and a reboot of either side: its output is stored byte by byte, its end is recorded once, and another instance takes
 * it over when its follower dies. Each kind of job is declared with `defineJob` and stored as `{kind, args}`. The room
 * delivers a job to the hub and to sockets; it must not know what a kind does, nor any function that starts or lists jobs.
 */

export { JOBS_ERRORS } from './codes.ts'
export { jobEventFrames, JobId } from './events.ts'
export { removeFolders } from './host-job.ts'
export {
  type Answering,
  type AnyJobKind,
  type Concluding,
  type Conclusion,
  defineJob,
  type EndedJob,
  type JobResult,
  type LeftBy,
  type Leftovers,
  type Prepared,
} from './kind.ts'
export { createJobs, type Jobs } from './manager.ts'
export { betweenCharacters, cutText } from './output-text.ts'
export { waitingParts } from './record.ts'
export { subscribeToJob, subscribeToLiveOutput } from './subscription.ts'
export { jobPieces, jobText } from './text.ts'
