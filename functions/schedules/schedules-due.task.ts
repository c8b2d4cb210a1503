import { defineTask } from '../services.ts'
import { takeDueSlots } from './due-slots.ts'

/** Begins the runs whose time has come, and records the times that were missed. Every instance asks; one of them does it. */
export default defineTask({
  name: 'schedules-due',
  every: 2,
  run: takeDueSlots,
})
