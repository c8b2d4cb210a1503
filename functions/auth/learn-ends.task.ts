import { defineTask } from '../../runtime/task.ts'

/** Closes sockets of sessions that another instance has ended; requests learn of such an end by themselves. */
export default defineTask({
  name: 'learn-ends',
  every: 20,
  run: ({ sessions }) => sessions.refresh(),
})
