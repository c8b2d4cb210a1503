import { defineCommand } from '../../runtime/command.ts'
import { switchFromConsole } from './console-switch.ts'

/** Disables a module immediately, also in a running service. */
export default defineCommand({
  name: 'modules disable',
  summary: 'désactiver un module',
  args: ['module'],

  run: ({ args: [id = ''] }, context) => switchFromConsole(context, id, false),
})
