import {
  BACKUP_RUNS,
  LOOK_MARK,
  OTHER_HOST,
  REBOOT_REFUSED,
  REBOOT_SECONDS,
  STILL_UP,
  TOO_LATE,
} from '../functions/restarts/reboot-script.ts'
import { NOT_ALLOWED } from '../functions/restarts/restart-script.ts'
import { fail, type Machine, pause, type Process, type Program } from './process.ts'
import { type Shell, wordsOf } from './sh.ts'

const SYSTEMCTL = '/usr/bin/systemctl'

/** Imitates `LOOK` and `REBOOT`. */
export function createReboot({ exitOf, heard }: Shell): { look: Program; reboot: Program } {
  const look: Program = async (_args, { machine, stdout }) => {
    const lines = [machine.name, machine.boot, `${seconds()}`, isBackedUp(machine) ? 'backup' : 'free', 'active', 'end']
    await stdout([LOOK_MARK, ...lines, ''].join('\n'))
    return 0
  }

  const reboot: Program = async ([sudo = '', name, boot, until], process) => {
    const { machine, stdout, signal } = process
    const root = wordsOf(sudo)
    if (boot !== machine.boot) {
      await stdout('The host has been rebooted in the meantime.\n')
      return 0
    }
    if (name !== machine.name) return OTHER_HOST
    if (seconds() > Number(until)) return TOO_LATE
    if (root.length > 0 && (await heard([...root, '-l', SYSTEMCTL, 'reboot'], process)).code !== 0) {
      const line = `${process.user.name} ALL=(root) NOPASSWD: ${SYSTEMCTL}`
      await stdout(`The sudo rule does not allow this. It lacks a program: ${line}\n`)
      return NOT_ALLOWED
    }
    for (const container of machine.containers)
      if (container.running) process.note?.(`ran ${container.id} ${container.name}`)
    if (isBackedUp(machine)) return BACKUP_RUNS
    process.note?.(`asked ${seconds()}`)
    await stdout('The host is asked to reboot.\n')
    if ((await exitOf([...root, SYSTEMCTL, 'reboot'], process)) !== 0) return REBOOT_REFUSED
    await pause(REBOOT_SECONDS * 1_000, signal)
    return STILL_UP
  }
  return { look, reboot }
}

/** `systemctl reboot`, for root; it does not wait. */
export async function systemctl([command]: readonly string[], process: Process): Promise<number> {
  if (command !== 'reboot') return fail(process, `Unknown command verb ${command ?? ''}.\n`, 1)
  if (process.user.uid !== 0)
    return fail(process, 'Failed to reboot system via logind: Interactive authentication required.\n', 1)
  process.machine.reboot()
  return 0
}

function isBackedUp({ containers }: Machine): boolean {
  return containers.some(({ lockedFor }) => lockedFor === 'backup')
}

function seconds(): number {
  return Math.floor(Date.now() / 1_000)
}
