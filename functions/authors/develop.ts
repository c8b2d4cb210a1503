import { createHash } from 'node:crypto'
import { watch } from 'node:fs'
import { type CheckedFolder, checkFolder } from './check-folder.ts'
import { described } from './described.ts'
import type { DevService } from './dev-service.ts'

/** Editors write a file in several steps. */
const SETTLE_MS = 150

/**
 * Serves the module of a folder, again after each change that leaves it without a fault, until a signal ends it.
 * `account` is what people type to sign in.
 */
export async function develop(
  folder: string,
  { service, account, say }: { service: DevService; account: string; say(text: string): void },
): Promise<void> {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  for (const signal of SIGNALS) process.once(signal, stop)
  const changes = changesOf(folder, stopping.signal)
  try {
    let served = ''
    do {
      const checked = await checkFolder(folder)
      const state = stateOf(checked)
      if (state === served) continue
      served = state
      if (checked.faults.length > 0) {
        say(`\n${checked.faults.map((fault) => `Défaut : ${fault}`).join('\n')}`)
        continue
      }
      const url = await service.serve(checked)
      const found = [...described(checked), ...checked.remarks.map((remark) => `Remarque : ${remark}`)]
      say(`\n${found.join('\n')}\n\n  ${url}/modules/${checked.descriptor?.id} — compte ${account}\n`)
      void service.ended().then((reason) => {
        if (!reason) return
        // The same files are served again when one is saved.
        served = ''
        say(`${reason} Enregistrez un fichier du module pour le redémarrer.`)
      })
    } while (await changes.next())
  } finally {
    changes.close()
    for (const signal of SIGNALS) process.off(signal, stop)
    await service.stop()
  }
}

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
function stateOf({ files, faults, remarks }: CheckedFolder): string {
  const hash = createHash('sha256')
  for (const [name, bytes] of files) hash.update(`${name}\0${bytes.length}\0`).update(bytes)
  return hash.update(JSON.stringify([faults, remarks])).digest('hex')
}
