import { join, resolve } from 'node:path'
import { HELP, readOptions } from './options.ts'
import { asJson, describe } from './report.ts'
import { soak } from './soak.ts'

/** The program under test: the bundle, or the one that PANEL_UNDER_TEST names. */
const UNDER_TEST = resolve(process.env.PANEL_UNDER_TEST ?? join(import.meta.dirname, '../../dist/ops-panel.mjs'))
/** Generous for the two waits for the last jobs and the comparison; a longer run hangs. */
const MORE_SECONDS = 600
/** Time to stop everything that was started. */
const CLEAN_UP_MS = 20_000

const options = given()
if (!options) process.stdout.write(HELP)
else {
  const stopping = new AbortController()
  const stop = (why: string) => {
    stopping.abort(new Error(why))
    setTimeout(() => process.exit(1), CLEAN_UP_MS).unref()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop(`ended by ${signal}`))
  const deadline = (options.seconds + MORE_SECONDS) * 1000
  const watchdog = setTimeout(() => stop('the run did not end in time'), deadline)
  const tell = (line: string) => void process.stderr.write(`soak: ${line}\n`)
  tell(`seed ${options.seed}`)
  try {
    const report = await soak(options, { program: UNDER_TEST, tell, signal: stopping.signal })
    process.stdout.write(options.json ? asJson(report) : `\n${describe(report)}`)
    if (!report.findings.none()) process.exitCode = 1
  } catch (error) {
    tell(error instanceof Error ? (error.stack ?? error.message) : String(error))
    process.exitCode = 1
  } finally {
    clearTimeout(watchdog)
  }
}

function given() {
  try {
    return readOptions(process.argv.slice(2), process.env)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(2)
  }
}
