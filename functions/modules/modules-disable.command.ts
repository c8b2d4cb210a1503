import { defineCommand } from '../../runtime/command-line.ts'
import { switchFromConsole } from './console-switch.ts'

/** Disables a module, at once, also in a service that is running. */
export default defineCommand({
  name: 'modules disable',
  summary: 'désactiver un module',
  args: ['module'],

  run: ({ args: [id = ''] }, context) => switchFromConsole(context, id, false),
})
