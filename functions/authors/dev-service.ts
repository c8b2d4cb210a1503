import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import * as z from 'zod'
import { saveModule } from '../../db/modules.ts'
import { openStorage } from '../../db/storage.ts'
import { forgetEnds, moduleFiles } from '../../modules/modules.ts'
import { type Clock, timestamp } from '../../platform/clock.ts'
import { readConfig } from '../../platform/config.ts'
import { escapeControl } from '../../platform/escape-control.ts'
import { ownProgram } from '../../platform/program.ts'
import { CommandError } from '../../runtime/command.ts'
import { recordOf } from '../registry/installation.ts'
import { type CheckedFolder, SEARCH_PATH } from './check-folder.ts'
import { shownLine } from './dev-output.ts'

/** A service with temporary data, for the author of one module. */
export interface DevService {
  /** Installs the module as it is now and starts the service again, at the same address. */
  serve(checked: CheckedFolder): Promise<string>
  /** Settles when the service ends by itself; says why. */
  ended(): Promise<string>
  stop(): Promise<void>
}

const Ready = z.object({ url: z.string() })
/** The time for a start on a busy machine. */
const START_MS = 30_000

/**
 * `port` is 0 for a free one, which is then kept. `host` has the settings of a host (`PANEL_SSH_HOST` …); without them, the
 * service has a host that runs nothing.
 */
export async function createDevService(
  { port, host = {} }: { port: number; host?: Readonly<Record<string, string>> },
  clock: Clock,
): Promise<DevService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ops-panel-dev-'))
  const config = readConfig({ PANEL_DATA_DIR: dataDir })
  let child: ChildProcess | undefined
  let kept = port
  const end = async () => {
    const ending = child
    child = undefined
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return
    ending.kill('SIGKILL')
    await once(ending, 'exit')
  }
  return {
    async serve({ descriptor, files }) {
      if (!descriptor) throw new CommandError('module.json est invalide.')
      const record = recordOf(descriptor, undefined)
      const placed = moduleFiles(config.modulesDir, descriptor.id)
      await placed.stage(files)
      await placed.replace()
      await placed.cleanUp()
      await end()
      // This end was no fault of the module.
      forgetEnds(dataDir)
      const { db } = await openStorage(config, clock)
      try {
        await db.batch([saveModule(record, timestamp(clock()))])
      } finally {
        await db.close()
      }
      child = start(dataDir, kept, host)
      const url = await address(child)
      kept = Number(new URL(url).port)
      return url
    },
    async ended() {
      const running = child
      if (!running) return ''
      const [code, signal] = await once(running, 'exit')
      return running === child ? `Le service s’est arrêté (${signal ?? `code ${code}`}).` : ''
    },
    async stop() {
      await end()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

function start(dataDir: string, port: number, host: Readonly<Record<string, string>>): ChildProcess {
  const [program = '', ...args] = ownProgram()
  const child = spawn(program, [...args, 'develop-module', dataDir, String(port)], {
    // The settings of a service of this machine must not reach this one.
    env: { PATH: SEARCH_PATH, HOME: dataDir, ...host },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const hasHost = Object.keys(host).length > 0
  if (child.stdout)
    createInterface(child.stdout).on('line', (line) => {
      const shown = shownLine(line, { hasHost })
      if (shown !== undefined) process.stdout.write(`${escapeControl(shown)}\n`)
    })
  return child
}

/** Waits until the service answers; rejects when it ends before or takes too long. */
function address(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const give = (error: CommandError) => {
      clearTimeout(late)
      reject(error)
    }
    const late = setTimeout(() => {
      child.kill('SIGKILL')
      give(new CommandError('le service n’a pas démarré à temps.'))
    }, START_MS)
    child.once('error', () => give(new CommandError('le service n’a pas pu être lancé.')))
    child.once('exit', () => give(new CommandError('le service s’est arrêté pendant son démarrage.')))
    child.once('message', (message) => {
      const { data } = Ready.safeParse(message)
      if (!data) return give(new CommandError('le service a envoyé un message inattendu.'))
      clearTimeout(late)
      resolve(data.url)
    })
  })
}
