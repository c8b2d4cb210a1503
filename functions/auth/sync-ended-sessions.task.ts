import { defineTask } from '../services.ts'

/** Closes sockets of sessions that another instance has ended. Requests need no task: each checks its own session. */
export default defineTask({
  name: 'sync-ended-sessions',
  every: 20,
  run: ({ sessions }) => sessions.refresh(),
})
