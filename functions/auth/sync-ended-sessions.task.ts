import { defineTask } from '../services.ts'

/** Learns which sessions another instance or a command of the console has ended: their tokens and sockets end then. */
export default defineTask({
  name: 'sync-ended-sessions',
  every: 2,
  run: ({ sessions }) => sessions.sync(),
})
