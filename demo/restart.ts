import { NOT_ALLOWED } from '../functions/restarts/restart-script.ts'
import { whyNever } from '../functions/restarts/never.ts'
import { pause, type Program } from './process.ts'
import { mainPid, restartService } from './services.ts'
import { type Shell, wordsOf } from './sh.ts'

const SYSTEMCTL = '/usr/bin/systemctl'
const RESTART_MS = 400

/** Imitates `RESTART` for the services of a place that use replaced files; it has no other ones. */
export function createRestart({ heard }: Shell): Program {
  return async ([sudo = '', ...services], process) => {
    const { place, stdout, signal } = process
    const root = wordsOf(sudo)
    if (root.length > 0 && (await heard([...root, '-l', SYSTEMCTL, 'restart'], process)).code !== 0) {
      const line = `${process.user.name} ALL=(root) NOPASSWD: ${SYSTEMCTL}`
      await stdout(`The sudo rule does not allow this. It lacks a program: ${line}\n`)
      return NOT_ALLOWED
    }
    const forbidden = services.find((name) => whyNever(name) !== undefined)
    if (forbidden !== undefined) {
      await stdout(`${forbidden}: this service is never restarted alone. Nothing was restarted.\n`)
      return 65
    }
    let code = 0
    for (const service of services) {
      if (!place.services?.some(({ name }) => name === service)) {
        await stdout(`${service}: there is no such service (not-found)\n`)
        code = 1
        continue
      }
      await pause(RESTART_MS, signal)
      const old = mainPid(place, service)
      await stdout(`${service}: main PID ${old} -> ${restartService(place, service)}, active\n`)
    }
    return code
  }
}
