import { defineTask } from '../services.ts'

/** Makes notices of what happened, and sends them. With nothing to do it reads two indexes. */
export default defineTask({
  name: 'deliver',
  every: 1,
  run: ({ notifications }) => notifications.tick(),
})
