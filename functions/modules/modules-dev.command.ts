import { createHash } from 'node:crypto'
import { watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CommandError, defineCommand } from '../../runtime/command.ts'
import { type CheckedFolder, checkFolder } from './check-folder.ts'
import { createDevService } from './dev-service.ts'
import { described } from './described.ts'

/** Editors write a file in several steps. */
const SETTLE_MS = 150
const DEFAULT_PORT = 8080

/** Serves the module of a folder while its author changes it. Ends by Ctrl-C. */
export default defineCommand({
  name: 'modules dev',
  summary: 'essayer un module pendant qu’on l’écrit (service sans hôte, rechargé à chaque changement)',
  data: 'none',
  args: ['dossier'],

  async run({ args: [typed = ''] }, { config, clock, prompt }) {
    const folder = resolve(typed)
    if (!(await stat(folder).catch(() => undefined))?.isDirectory())
      throw new CommandError(`${folder} n’est pas un dossier.`)
    const stopping = new AbortController()
    const stop = () => stopping.abort()
    for (const signal of SIGNALS) process.once(signal, stop)
    // The default port belongs to a service; without another one, a free port is taken.
    const service = await createDevService(config.port === DEFAULT_PORT ? 0 : config.port, clock)
    const changes = changesOf(folder, stopping.signal)
    try {
      let served = ''
      do {
        const checked = await checkFolder(folder)
        const state = stateOf(checked)
        if (state === served) continue
        served = state
        if (checked.faults.length > 0) {
          prompt.say(`\n${checked.faults.map((fault) => `Défaut : ${fault}`).join('\n')}`)
          continue
        }
        const url = await service.serve(checked)
        prompt.say(
          `\n${described(checked).join('\n')}\n\n  ${url}/modules/${checked.descriptor?.id} — compte dev, mot de passe dev\n`,
        )
        void service.ended().then((reason) => reason && prompt.say(reason))
      } while (await changes.next())
    } finally {
      changes.close()
      for (const signal of SIGNALS) process.off(signal, stop)
      await service.stop()
    }
    return 'Arrêté.'
  },
})

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Tells when something in the folder has changed since the last call. */
function changesOf(folder: string, ending: AbortSignal): { next(): Promise<boolean>; close(): void } {
  let [isChanged, isOver] = [false, ending.aborted]
  let wake = () => {}
  let timer: NodeJS.Timeout | undefined
  const watcher = watch(folder, { recursive: true }, (_, name) => {
    if (/(^|[\\/])(node_modules|\.git)([\\/]|$)/.test(name ?? '')) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      isChanged = true
      wake()
    }, SETTLE_MS)
  })
  const end = () => {
    isOver = true
    wake()
  }
  // A folder that was removed cannot be watched any more.
  watcher.on('error', end)
  ending.addEventListener('abort', end, { once: true })
  return {
    async next() {
      if (!isChanged && !isOver) await new Promise<void>((woken) => (wake = woken))
      isChanged = false
      return !isOver
    },
    close() {
      clearTimeout(timer)
      watcher.close()
      ending.removeEventListener('abort', end)
    },
  }
}

/** A text that differs when the files or the faults differ. */
function stateOf({ files, faults }: CheckedFolder): string {
  const hash = createHash('sha256')
  for (const [name, bytes] of files) hash.update(`${name}\0${bytes.length}\0`).update(bytes)
  return hash.update(JSON.stringify(faults)).digest('hex')
}
