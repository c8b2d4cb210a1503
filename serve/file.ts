import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// The one file: whoever runs it has the program, whoever imports it the exports of a function host.

const host = () => import('./fetch.ts')

export const fetch = async (request: Request): Promise<Response> => (await host()).default.fetch(request)
export const scheduled = async (): Promise<void> => (await host()).default.scheduled()
export default { fetch, scheduled }

/** For AWS Lambda. */
export const handler: typeof import('./fetch.ts').handler = async (...call) => (await host()).handler(...call)

if (isRun()) await import('./main.ts')

function isRun(): boolean {
  // pm2 runs what it was given inside a program of its own, and says here what that was.
  const program = process.env.pm_exec_path ?? process.argv[1]
  if (program === undefined) return false
  try {
    return realpathSync(program) === realpathSync(fileURLToPath(import.meta.url))
  } catch {
    return false
  }
}
