import { Worker } from 'node:worker_threads'

const LOOK_MS = 500

/**
 * Ends this process when the one that started it is gone, also while its own thread is busy for ever, as a module's code can
 * make it. `stop` ends the watch.
 */
export function endWithParent(): { stop(): Promise<void> } {
  const watch = `setInterval(() => { if (process.ppid !== ${process.ppid}) process.kill(process.pid, 'SIGKILL') }, ${LOOK_MS})`
  const watcher = new Worker(watch, { eval: true })
  // Without it the service serves all the same.
  watcher.on('error', () => {})
  return {
    async stop() {
      await watcher.terminate()
    },
  }
}
