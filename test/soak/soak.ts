import { setMaxListeners } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../free-port.ts'
import { takeCensus } from './census.ts'
import { createCrowd } from './crowd.ts'
import { startCuttingProxy } from './cutting-proxy.ts'
import { FAULTS } from './faults.ts'
import { createFindings } from './findings.ts'
import { type SoakHost, startHost } from './host.ts'
import type { Options } from './options.ts'
import { createPanel } from './panel.ts'
import { createRandom } from './random.ts'
import { readStored } from './read-stored.ts'
import type { Report } from './report.ts'
import { type Records, readRecords } from './stored.ts'
import { createStorm } from './storm.ts'
import { judgeCensus, judgeFaults, judgeJobs, judgeSignIns } from './verdict.ts'
import { createWeather } from './weather.ts'

/** The longest wait for closed connections and for jobs without followers to end. */
const AFTER_MS = 120_000
const TOLD_EVERY_MS = 10_000

interface Surroundings {
  /** The program under test. */
  program: string
  /** Receives progress messages for the operator. */
  tell(line: string): void
  /** Ends the run at once. */
  signal: AbortSignal
}

/**
 * Runs clients against the service, injects faults, and counts the losses. All processes that it started have ended
 * when it settles.
 */
export async function soak(
  { seconds, clients, seed, faults }: Options,
  { program, tell, signal }: Surroundings,
): Promise<Report> {
  const begun = Date.now()
  const cleanUp: (() => unknown)[] = []
  const random = createRandom(seed)
  const findings = createFindings()
  const weather = createWeather()
  setMaxListeners(0, signal)
  try {
    const folder = await mkdtemp(join(tmpdir(), 'ops-panel-soak-'))
    cleanUp.push(() => rm(folder, { recursive: true, force: true }))
    const host = await startHost(seed)
    cleanUp.push(host.stop)
    const databaseUrl = `file:${folder}/panel.db`
    const place = { program, port: await freePort(), environment: environment(folder, host), folder }
    const panel = createPanel(place, findings)
    cleanUp.push(panel.end)
    await panel.start()
    const census = () => takeCensus(panel, host.address.port)
    const start = await census()

    const proxy = await startCuttingProxy(panel.port, random.branch())
    const crowd = createCrowd({ url: proxy.url, weather, findings, random: random.branch() }, { clients, seconds })
    cleanUp.push(crowd.dismiss, proxy.stop)
    let now = ''
    const announce = (what: string) => {
      now = what
    }
    const told = setInterval(() => {
      const answers = [...crowd.counts.values()].reduce((sum, count) => sum + count, 0)
      const jobs = `${crowd.ledger.jobs.size} jobs, ${crowd.underWay()} under way`
      tell(`${Math.round((Date.now() - begun) / 1000)} s: ${answers} answers, ${jobs}; ${now}`)
    }, TOLD_EVERY_MS)
    cleanUp.push(() => clearInterval(told))
    const stopped = new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason)
      signal.addEventListener('abort', () => reject(signal.reason))
    })
    stopped.catch(() => {})
    /** Waits for the work; rejects when the run is stopped or a client fails. */
    const going = <result>(work: Promise<result>) => Promise.race([stopped, crowd.failed, work])
    const quiet = () => {
      announce('waiting for the jobs to end')
      return going(crowd.quiet())
    }

    const storm = createStorm({ panel, proxy, host, weather, random: random.branch(), databaseUrl, signal }, announce)
    // The service is killed repeatedly in the first half and runs on in the second, so that its growth can be measured.
    await going(storm.strike(faults, seconds * 500))
    await quiet()
    const half = await census()
    crowd.goOn()
    const lasting = faults.filter((name) => !FAULTS[name].deadly)
    await going(storm.strike(lasting, seconds * 500))
    await quiet()
    const end = await census()

    announce('comparing')
    await going(crowd.dismiss())
    await proxy.stop()
    const records = await going(settledRecords(databaseUrl))
    const runs = await host.runs()
    const stored = await readStored({ panel, jobs: records.jobs, runs }, signal)
    let left = await census()
    for (const until = Date.now() + AFTER_MS; left.clientSockets > 0 && Date.now() < until; left = await census())
      await going(pause(500))
    const { ledger, counts } = crowd
    judgeCensus({ half, end, left, seen: await host.connections() }, findings)
    judgeJobs({ ledger, stored, runs, weather }, findings)
    judgeSignIns(ledger, records.signIns, findings)
    judgeFaults({ faults, struck: storm.struck, cuts: proxy.cuts(), lives: panel.lives() }, findings)
    await panel.stop()
    return {
      options: { seconds, clients, seed },
      took: (Date.now() - begun) / 1000,
      counts,
      struck: storm.struck,
      cuts: proxy.cuts(),
      lives: panel.lives(),
      ledger,
      stored,
      census: { start, half, end, left },
      errors: panel.errors(),
      findings,
    }
  } finally {
    for (const step of cleanUp.reverse()) await step()
  }
}

/** Waits for jobs that nobody follows because the answer to their start was lost. */
async function settledRecords(databaseUrl: string): Promise<Records> {
  for (const until = Date.now() + AFTER_MS; ; await pause(500)) {
    const records = await readRecords(databaseUrl)
    if (Date.now() > until || records.jobs.every(({ status }) => status !== 'running')) return records
  }
}

function environment(folder: string, { address }: SoakHost): Record<string, string> {
  return {
    PANEL_DATA_DIR: folder,
    PANEL_SSH_HOST: `127.0.0.1:${address.port}`,
    PANEL_SSH_USERNAME: address.username,
    PANEL_SSH_PASSWORD: address.password,
    PANEL_SSH_HOST_KEY: address.hostKey,
    PANEL_TRUSTED_PROXIES: '127.0.0.0/8',
    PANEL_METRICS: 'on',
    PANEL_LOG_LEVEL: 'warn',
    // Every output is compared at the end.
    PANEL_KEEP_JOBS: '1000000',
  }
}
