import { defineCommand } from '../../runtime/command-line.ts'
import { switchFromConsole } from './console-switch.ts'

/** Enables a module; its code, if it has any, is loaded at the next start of the service. */
export default defineCommand({
  name: 'modules enable',
  summary: 'activer un module',
  args: ['module'],

  run: ({ args: [id = ''] }, context) => switchFromConsole(context, id, true),
})
