import * as z from 'zod'
import { isAgreed } from '../../db/applications.ts'
import { noteOutcome, noteWarnings } from '../../db/jobs.ts'
import { readOutput } from '../../db/output.ts'
import { readStorage } from '../../db/snapshots.ts'
import { defineJob, type EndedJob, type JobResult, type LeftBy, type Leftovers } from '../../jobs/jobs.ts'
import { type Command, type Elevation, type Host, script } from '../../ssh/ssh.ts'
import { elevationOf } from '../elevation/installed-helper.ts'
import { inContainer } from '../hypervisor/pct.ts'
import type { HypervisorSettings } from '../hypervisor/settings.ts'
import { answerByApi, hasApi, isForApi } from '../hypervisor/snapshot-answers.ts'
import { parseTarget } from '../hypervisor/target.ts'
import { backupsBeyond } from '../protection/archive.ts'
import { runHttpProbes } from '../protection/http-probes.ts'
import { leftBackup } from '../protection/left-backup.ts'
import { leftPlace, protectedCommand, restingState, snapshotName, stateLines } from '../protection/protected-run.ts'
import { REFUSED } from '../protection/protected-script.ts'
import { Protection } from '../protection/protection.ts'
import { endStatements } from '../protection/run-audit.ts'
import { endEvents } from '../protection/run-events.ts'
import { readNotes } from '../protection/run-notes.ts'
import { type Outcome, outcomeOfRun, runStatements } from '../protection/run-record.ts'
import { storagesFrom } from '../protection/storage-facts.ts'
import { type ErrorCode, fail } from '../services.ts'
import { asRoot } from '../updates/in-target.ts'
import { queueOf, UPDATE_EVENT } from '../updates/upgrade.ts'
import { ApplicationId, Digest } from './application.ts'
import { ADDRESS } from './community-look.ts'
import { composeCommand } from './compose-run.ts'
import { ASKS, NOT_AGREED, NOT_BEGUN, REFUSES_CODE, RUN_SCRIPT, SOURCE_CHANGED, VERSION_LINE } from './run-script.ts'
import { MOST_REFUSED } from './source.ts'
import { MOST_FILES } from './fetch-script.ts'

/**
 * The files that were agreed to, the first of which runs, and the addresses of code that are refused. A stack of Docker
 * Compose has none: its digest binds it.
 */
const Args = z
  .object({
    target: z.string(),
    application: ApplicationId,
    name: z.string(),
    digest: Digest,
    files: z.array(z.object({ digest: Digest, address: z.string().regex(ADDRESS) })).max(MOST_FILES),
    refused: z.array(z.string()).max(MOST_REFUSED),
    protection: Protection,
  })
  .refine(({ application, files }) => files.length > 0 === !isStack(application))
type Args = z.infer<typeof Args>

/**
 * The job that updates an application of a container, a community script or a stack: what was agreed to, and nothing else. With
 * protection, it has a snapshot before and a comparison after it, as an upgrade of packages.
 */
export const applicationJob = defineJob<Args, HypervisorSettings>({
  kind: 'application',
  event: UPDATE_EVENT,
  args: Args,
  queue: ({ target }) => queueOf(target),
  bounds: { ofTarget: 3, ofUser: 10, ofAll: 50 },

  async command(args, host, job, db) {
    const id = containerOf(args)
    const elevation = await elevationOf(host)
    // The host helper runs nothing that the account brings.
    if (elevation === 'helper') throw fail('host_helper_lacks', { values: { what: 'mettre à jour une application' } })
    // An agreement may have been withdrawn while the job waited. A job that was taken over may be at work already: a command
    // that only ends leaves it there, where an error would record an end that it does not have.
    if (!(await isAgreed(db, args.digest))) return WITHDRAWN
    const command = runCommand(args, id, elevation)
    const { protection } = args
    if (protection.before === 'none') return command
    const place = { id, name: snapshotName(job), elevation, hasApi: await hasApi(id, db) }
    if (protection.before !== 'backup') return protectedCommand(place, protection, command, { of: 'application' })
    // By itself, vzdump would take its own default storage, which need not take backups.
    const [first = null] = storagesFrom((await readStorage(db)).get('host'))
    const policy = { ...protection, backup_storage: protection.backup_storage ?? first }
    const former = await backupsBeyond(db, args.target, { keep: protection.keep, job })
    return protectedCommand(place, policy, command, { former, of: 'application' })
  },

  async leftovers(args, host, of): Promise<Leftovers | undefined> {
    const told = ['La mise à jour de l’application a été interrompue : vérifiez l’application.']
    if (args.protection.before === 'none') return of.ending === 'lost' ? undefined : { lines: told }
    const { lines, found } = await leftIn(args, host, of)
    return { lines: [...told, ...lines], found }
  },

  async answer({ target, protection }, question, by) {
    if (isForApi(question)) {
      const parsed = parseTarget(target)
      const own = snapshotName(by.id)
      // Older snapshots of the panel are only removed.
      const mayChange = (step: string, snapshot: string) => snapshot === own || step === 'forget'
      return answerByApi(question, { ...by, id: parsed?.kind === 'container' ? parsed.id : '', mayChange })
    }
    const signal = AbortSignal.any([by.signal, AbortSignal.timeout(PROBES_MS)])
    const found = await runHttpProbes(protection.probes, signal)
    return found.map(({ name, good, detail }) => ['probe', name, good ? 'good' : 'bad', detail].join('\t'))
  },

  result: resultOf,
})

const UNPROTECTED_RUN = JSON.stringify({ protection: null })

const WITHDRAWN = script(
  `echo 'ops-panel: nobody agrees to this any more. Nothing was run.'; exit ${NOT_AGREED}`,
  'ops-panel',
)

/** HTTP probes have 10 s each, at once. */
const PROBES_MS = 15_000

/** The id of the container. Throws `target_invalid`. */
function containerOf({ target: text }: Args): string {
  const target = parseTarget(text)
  if (target?.kind !== 'container') throw fail('target_invalid', { values: { target: text } })
  return target.id
}

function isStack(application: string): boolean {
  return application.startsWith('compose:')
}

function runCommand(args: Args, id: string, elevation: Elevation): Command {
  const { application, name, digest, files, refused } = args
  if (isStack(application)) return composeCommand(id, name, digest, elevation)
  const words = files.flatMap(({ digest, address }) => [digest, address])
  const run = script(RUN_SCRIPT, 'ops-panel-application', name, String(refused.length), ...refused, ...words)
  return asRoot(inContainer(id, run), elevation)
}

async function leftIn(args: Args, host: Host, of: LeftBy<HypervisorSettings>) {
  const place = await leftPlace(host, { id: containerOf(args), name: snapshotName(of.id) }, of)
  if (args.protection.before === 'backup') return leftBackup(host, place, readNotes(of.notes).archive, of)
  const state = await restingState(host, place, of.signal)
  return { lines: stateLines(state, place.name), found: state }
}

/** The exit codes of `RUN_SCRIPT` that end a job with an error of their own. */
const ERRORS: Record<number, ErrorCode> = {
  [SOURCE_CHANGED]: 'source_changed',
  [ASKS]: 'application_asks',
  [REFUSES_CODE]: 'application_refused',
  [NOT_BEGUN]: 'application_not_begun',
  [NOT_AGREED]: 'not_agreed',
}

async function resultOf(args: Args, ended: EndedJob): Promise<JobResult> {
  const { target, protection } = args
  const report = readNotes(ended.notes)
  const tail = await tailOf(ended)
  const error = errorOf(ended, { refused: report.refused !== undefined, tail })
  const isProtected = protection.before !== 'none'
  const outcome = isProtected ? outcomeOfRun(report, ended, error?.code) : plainOutcome(ended, error?.code)
  const warned = outcome === 'upgraded' ? doubtsOf(tail) : []
  const run = { target, snapshot: snapshotName(ended.row.id), protection }
  const record = isProtected
    ? runStatements(run, ended, { outcome, report, warned })
    : [
        // Somebody may decide about a failure; an application that went well has nothing to decide.
        noteOutcome(ended.row, { phase: null, outcome, protectedRun: outcome === 'failed' ? UNPROTECTED_RUN : null }),
        ...(warned.length > 0 ? [noteWarnings(ended.row, warned)] : []),
      ]
  const counts = { outcome, regressions: report.worse.length, snapshot: report.snapshot?.name }
  const audited = await endStatements(ended, counts)
  const told = await endEvents(ended, { outcome, message: error?.message, report, application: args.name })
  return { statements: [...record, ...audited, ...told], ...(error && { failure: error }) }
}

function errorOf({ code, cancelled }: EndedJob, { refused, tail }: { refused: boolean; tail: string }) {
  if (cancelled || code === null) return undefined
  const isMissing = code === 0 && /No [\w .-]{1,80} Installation Found!/m.test(tail)
  const known = refused && code === REFUSED ? 'protection_unavailable' : ERRORS[code]
  const error = isMissing ? 'application_not_installed' : known
  if (error === undefined) return undefined
  const { message, code: stable } = fail(error)
  return { message, code: stable }
}

function plainOutcome({ code, cancelled }: EndedJob, error: string | undefined): Outcome {
  if (cancelled) return 'cancelled'
  return code === 0 && error === undefined ? 'upgraded' : 'failed'
}

/** Bytes at the end of the output that are read. After the versions, a protected run adds little. */
const TAIL = 16 * 1024

async function tailOf({ db, row: { id, output_size, output_from } }: EndedJob): Promise<string> {
  const chunks = await readOutput(db, id, Math.max(output_from, output_size - TAIL), TAIL)
  return Buffer.concat(chunks.map(({ bytes }) => bytes)).toString()
}

/** Says what a script that ended well does not prove. It ends well, too, where it finds nothing newer. */
function doubtsOf(tail: string): string[] {
  const line = tail.split('\n').findLast((each) => each.startsWith(VERSION_LINE))
  const [before = '-', after = '-'] = line?.slice(VERSION_LINE.length).trim().split(' -> ') ?? []
  if (after === '-') return ['Le script n’a pas noté de version : rien ne dit ce que la mise à jour a changé.']
  if (before !== after) return []
  return [`La version est toujours ${after.slice(0, 100)} : il n’y avait peut-être rien à mettre à jour.`]
}
