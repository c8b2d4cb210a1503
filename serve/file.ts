import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// The entry point of the bundle: a program when it is run, and the exports for a function host when it is imported.

const host = () => import('./fetch.ts')

export const fetch = async (request: Request): Promise<Response> => (await host()).default.fetch(request)
export const scheduled = async (): Promise<void> => (await host()).default.scheduled()
export default { fetch, scheduled }

/** For AWS Lambda. */
export const handler: typeof import('./fetch.ts').handler = async (...call) => (await host()).handler(...call)

if (isRun()) await import('./main.ts')

function isRun(): boolean {
  // pm2 runs the file inside a program of its own, and names the file in this variable.
  const program = process.env.pm_exec_path ?? process.argv[1]
  if (program === undefined) return false
  try {
    return realpathSync(program) === realpathSync(fileURLToPath(import.meta.url))
  } catch {
    return false
  }
}
