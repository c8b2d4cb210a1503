import { createHash } from 'node:crypto'
import { uptime } from 'node:os'
import { FIGURES, FIGURES_MARK } from '../functions/hypervisor/host-figures.ts'
import { SHELL } from '../functions/terminal/shell.ts'
import { STEPS, UPGRADE } from '../functions/updates/apt.ts'
import { CHECK, INSPECTION } from '../functions/checks/check-script.ts'
import { ALLOW, CLEAN as CLEAN_CACHE, HOLD, MANUAL, REPAIR, UNHOLD } from '../functions/checks/remedy-scripts.ts'
import { COMPARE } from '../functions/plans/conffile-scripts.ts'
import { managerText } from '../functions/managers/managed-scripts.ts'
import { MANAGED_PLAN, MANAGED_PLANNED } from '../functions/plans/plan-command.ts'
import { PLAN, PLANNED } from '../functions/plans/plan-script.ts'
import { HEALTH } from '../functions/protection/health-script.ts'
import { STATE } from '../functions/protection/step-scripts.ts'
import { STORAGE } from '../functions/protection/storage-script.ts'
import { LOOK, REBOOT } from '../functions/restarts/reboot-script.ts'
import { STACK_LOOK } from '../functions/applications/compose-report.ts'
import { RUN_COMPOSE } from '../functions/applications/compose-run.ts'
import { FETCH } from '../functions/applications/fetch-script.ts'
import { RUN_SCRIPT } from '../functions/applications/run-script.ts'
import { RESTART } from '../functions/restarts/restart-script.ts'
import { CHANGELOG } from '../functions/updates/changelog-script.ts'
import { ELEVATION, IDENTIFY, INSPECT, WITHOUT_INPUT } from '../ssh/identity-script.ts'
import { JOBS_FOLDER } from '../jobs/folder-script.ts'
import { PUT } from '../jobs/program.ts'
import { RUN } from '../jobs/runner.ts'
import { ANSWER, CANCEL, CLEAN, FOLLOW, NOTING, OUTPUT_MARK, START } from '../jobs/script.ts'
import { AUTHORIZED_KEYS } from '../functions/settings/authorized-keys.ts'
import { authorizedKeys } from './authorized-keys.ts'
import { fetchCode, lookAtStack, runApplication, runStack } from './application.ts'
import type { User } from './account.ts'
import { createInspection, KERNEL } from './inspection.ts'
import { Job } from './jobs.ts'
import { createCheck } from './check.ts'
import type { Run } from './pct.ts'
import { createPlans } from './planned.ts'
import { managedPlan, managedPlanned } from './managed.ts'
import { fail, type Machine, type Process, type Program } from './process.ts'
import { createHealth } from './protection/health.ts'
import { createState, storageLines } from './protection/storage-lines.ts'
import { createReboot } from './reboot.ts'
import { createRestart } from './restart.ts'
import { changelog, createRemedies } from './remedies.ts'
import { createShell } from './sh.ts'
import { interactiveShell } from './shell.ts'
import { noStdin } from './stdin.ts'
import { createUpgrade } from './upgrade.ts'

/** The imitations of the scripts that the service sends, by their exact text. Any other text runs nothing. */
export function createScripts(run: Run): ReadonlyMap<string, Program> {
  const sh = createShell(run)
  const { exitOf } = sh

  const identify: Program = async ([mark = ''], process) => {
    await process.stdout(`${mark}\0`)
    for (const option of ['-unz', '-uz', '-Gnz']) if ((await exitOf(['id', option], process)) !== 0) return 1
    await process.stdout(`${mark}\0`)
    return 0
  }

  const inspect: Program = async ([mark = '', name = ''], process) => {
    const silent = async () => {}
    const code = await exitOf(['id', '-u', '--', name], { ...process, stdout: silent, stderr: silent })
    const user = process.machine.users.get(name)
    if (code > 1) return 1
    const told = code === 0 && user ? inspected(user, process.user.uid === 0) : ['gone']
    await process.stdout([mark, ...told, mark, ''].join('\0'))
    return 0
  }

  const elevation: Program = async ([, asked], process) => {
    const silent = async () => {}
    const quiet: Process = { ...process, stdout: silent, stderr: silent }
    const mode = async () => {
      if (process.user.uid === 0) return 'root'
      if ((await exitOf(['sudo', '-n', 'true'], quiet)) === 0) return 'sudo'
      if (asked === 'no-password') return 'rule'
      const listed = await exitOf(['sudo', '-k', '-S', '-p', '', '-l', '/bin/sh'], quiet)
      return listed === 0 ? 'password' : 'rule'
    }
    await process.stdout(`${await mode()}\n`)
    return 0
  }

  const upFor = ({ bootedAt }: Machine) => (bootedAt === undefined ? uptime() : (Date.now() - bootedAt) / 1_000)

  const figures: Program = async (_args, process) => {
    const { host } = process.machine
    await process.stdout(
      [
        FIGURES_MARK,
        process.machine.name,
        'Debian GNU/Linux 12 (bookworm)',
        KERNEL,
        `${Math.floor(upFor(process.machine))}`,
        '0.42 0.37 0.31',
        '8',
        '32779420 24118432',
        '98497780 41562348',
        host.reboot ? 'yes' : 'no',
        host.unfinished?.length ? 'yes' : 'no',
        process.machine.boot,
        ...(host.reboot ?? []).map((name) => `asked ${name}`).sort(),
        `kernel ${KERNEL}`,
        'end\n',
      ].join('\n'),
    )
    return 0
  }

  /** The pieces of the programs of jobs that have not been started. */
  const pieces = new Map<string, string>()
  const placeOf = ({ uid }: User, id: string) => `${JOBS_FOLDER}${uid}/${id}`
  const forgetProgram = (user: User, id: string) => {
    for (const file of pieces.keys()) if (file.startsWith(`${placeOf(user, id)}.program-`)) pieces.delete(file)
  }

  const put: Program = async ([id = '', word = '', number = '', piece = ''], { machine, user }) => {
    if (!machine.jobs.has(id)) pieces.set(`${placeOf(user, id)}.program-${word}-${number}`, piece)
    return 0
  }

  /** Returns the program that `START` puts together: undefined without one, and null where it is not whole. */
  const programOf = (user: User, id: string, word: string): Process['program'] | null => {
    if (word === '-') return undefined
    const [sum, count] = word.split('-')
    const all = Array.from({ length: Number(count) }, (_, n) =>
      pieces.get(`${placeOf(user, id)}.program-${word}-${n + 1}`),
    )
    forgetProgram(user, id)
    const text = all.join('')
    if (createHash('sha256').update(text).digest('hex') !== sum) return null
    return { file: `${placeOf(user, id)}/program`, text }
  }

  const start: Program = async ([runner, id = '', _most, word = '', ...command], process) => {
    const { machine, user } = process
    const known = machine.jobs.get(id)
    if (runner !== RUN || id === '' || id.includes('/') || (known && known.owner !== user.uid)) {
      return fail(process, `${placeOf(user, id)}: cannot be created\n`, 73)
    }
    if (known) return 0
    const program = programOf(user, id, word)
    if (program === null) return fail(process, `${placeOf(user, id)}: the program of the job is not whole\n`, 75)
    const job = new Job(user.uid, { tellsNotes: command[2] === NOTING })
    machine.jobs.set(id, job)
    const write = (data: string | Uint8Array) => job.write(data)
    const note = (line: string) => job.note(line)
    const asked = (question: string, ms: number) => job.answered(question, ms)
    const own = { stdin: noStdin(), stdout: write, stderr: write, note, asked, signal: job.signal }
    const detached: Process = { ...process, ...own, ...(program && { program }) }
    // A lost job reports nothing.
    exitOf(command, detached).then(
      (code) => job.end(code),
      () => (job.cancelled ? job.end(TERMINATED) : job.lose()),
    )
    return 0
  }

  const follow: Program = async ([id = '', offset = '0'], process) => {
    const { machine, user, signal, stdin, stdout, stderr } = process
    const job = machine.jobs.get(id)
    if (job?.owner !== user.uid) return fail(process, 'ops-panel gone\n', 0)
    if (!/^\d+$/.test(offset)) return fail(process, `sh: 1: arithmetic expression: expecting EOF: "${offset}+1"\n`, 2)
    await stdout(`${OUTPUT_MARK}\n`)
    const gone = AbortSignal.any([signal, stdin.ended])
    for await (const piece of job.read(Number(offset), gone))
      await (typeof piece === 'string' ? stderr(piece) : stdout(piece))
    const end = job.code === undefined ? `lost ${job.size} ${job.loss}` : `exit ${job.code} ${job.size}`
    const lines = [end, ...job.notes.map((line) => `note ${line}`)]
    return fail(process, lines.map((line) => `ops-panel ${line}\n`).join(''), 0)
  }

  const noting: Program = async ([_id, ...words], process) => {
    const { program } = process
    return exitOf(program ? [words[0] ?? '', program.file, ...words.slice(1)] : words, process)
  }

  const answer: Program = async ([id = '', question = '', ...lines], { machine, user }) => {
    const job = machine.jobs.get(id)
    if (job?.owner === user.uid) job.answer(question, lines)
    return 0
  }

  const cancel: Program = async ([id = ''], { machine, user }) => {
    const job = machine.jobs.get(id)
    if (job?.owner === user.uid) job.cancel()
    return 0
  }

  const clean: Program = async ([id = ''], { machine, user }) => {
    forgetProgram(user, id)
    if (machine.jobs.get(id)?.owner === user.uid) machine.jobs.delete(id)
    return 0
  }

  const shell: Program = async (halves, process) => {
    await process.stdout(`${halves.join('')}\n`)
    return interactiveShell(process, run)
  }

  const { steps, upgrade } = createUpgrade(sh)
  const { plan, compare, planned } = createPlans(sh)
  const reboots = createReboot(sh)
  const { allow, hold, unhold, clean: cleanCache, manual, repair } = createRemedies(sh)

  return new Map<string, Program>([
    [IDENTIFY, identify],
    [AUTHORIZED_KEYS, authorizedKeys],
    [INSPECT, inspect],
    [ELEVATION, elevation],
    [WITHOUT_INPUT, (words, process) => exitOf(words, { ...process, stdin: noStdin() })],
    [FIGURES, figures],
    [LOOK, reboots.look],
    [REBOOT, reboots.reboot],
    [RESTART, createRestart(sh)],
    [SHELL, shell],
    [STEPS, steps],
    [UPGRADE, upgrade],
    [PLAN, plan],
    [COMPARE, compare],
    [PLANNED, planned],
    ...MANAGED.flatMap((name): [string, Program][] => [
      [`${managerText(name)}${MANAGED_PLAN}`, managedPlan],
      [`${managerText(name)}${MANAGED_PLANNED}`, managedPlanned],
    ]),
    [CHANGELOG, changelog],
    [FETCH, fetchCode],
    [RUN_SCRIPT, runApplication],
    [STACK_LOOK, lookAtStack],
    [RUN_COMPOSE, runStack],
    [INSPECTION, createInspection(sh)],
    [CHECK, createCheck(sh)],
    [STORAGE, storageLines],
    [HEALTH, createHealth(sh)],
    [STATE, createState(sh)],
    [ALLOW, allow],
    [HOLD, hold],
    [UNHOLD, unhold],
    [CLEAN_CACHE, cleanCache],
    [MANUAL, manual],
    [REPAIR, repair],
    [PUT, put],
    [START, start],
    [NOTING, noting],
    [FOLLOW, follow],
    [ANSWER, answer],
    [CANCEL, cancel],
    [CLEAN, clean],
  ])
}

/** The managers other than apt that are imitated. */
const MANAGED = ['apk', 'pacman'] as const

/** Every account has its password in the imitated host itself; only root can read the entry. */
function inspected({ name, uid, shell, expired, groups, sudo = 'none' }: User, byRoot: boolean): string[] {
  const today = Math.floor(Date.now() / 1000)
  const path = shell === 'nologin' ? '/usr/sbin/nologin' : '/bin/bash'
  const isRoot = uid === 0 || sudo === 'password' || sudo === 'nopasswd'
  const seen = byRoot
    ? [
        'usable',
        `20000:0:99999:7::${expired ? '1' : ''}:`,
        `${today}`,
        groups.includes('wheel') ? (isRoot ? 'yes' : 'no') : 'unasked',
      ]
    : ['unseen', '', `${today}`, 'unasked']
  return [name, `${uid}`, path, ...seen, ...groups]
}

/** The exit code that a shell reports for a command ended by SIGTERM. */
const TERMINATED = 143
