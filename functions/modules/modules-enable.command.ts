import { defineCommand } from '../../runtime/command.ts'
import { switchFromConsole } from './console-switch.ts'

/** Enables a module. The service loads its code, if any, at its next start. */
export default defineCommand({
  name: 'modules enable',
  summary: 'activer un module',
  args: ['module'],

  run: ({ args: [id = ''] }, context) => switchFromConsole(context, id, true),
})
