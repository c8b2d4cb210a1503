import { createHash } from 'node:crypto'
import { addJob, addRun } from '../../db/job-start.ts'
import { endJob } from '../../db/jobs.ts'
import type { Database } from '../../db/libsql/database.ts'
import { addPlan } from '../../db/plans.ts'
import { saveUser } from '../../db/users.ts'
import { functions } from '../../functions/index.ts'
import type { Role, Targets } from '../../runtime/context.ts'
import { PROOF_SECONDS } from '../../runtime/access.ts'
import { START, testApp } from '../app.ts'
import { bearerOf } from '../bearer.ts'
import type { Named } from './inputs.ts'
import type { Caller } from './written-table.ts'

/** The one target of bounded callers, and another one. */
export const [OWN, FOREIGN] = ['lxc:101', 'lxc:102'] as const

const PCT_LIST = `VMID       Status     Lock         Name
101        running                 web
102        running                 db
`

const ROLES: readonly Role[] = ['viewer', 'operator', 'admin']

/** Every kind of caller of docs/access.md. */
export const CALLERS: readonly Caller[] = [
  ...ROLES.flatMap((role) => [
    { name: `${role}, proven`, role, credential: 'session' as const, isProven: true },
    { name: `${role}, proven long ago`, role, credential: 'session' as const },
    { name: `${role} who must enrol`, role, credential: 'session' as const, isProven: true, isEnrolling: true },
    { name: `token of a ${role}`, role, credential: 'token' as const },
    { name: `token of a ${role}, bound`, role, credential: 'token' as const, isBound: true },
  ]),
  {
    name: 'operator of one target, proven',
    role: 'operator',
    credential: 'session',
    isProven: true,
    isOfOneTarget: true,
  },
  { name: 'operator of one target, proven long ago', role: 'operator', credential: 'session', isOfOneTarget: true },
  { name: 'token of an operator of one target', role: 'operator', credential: 'token', isOfOneTarget: true },
  {
    name: 'bound token of an operator of one target',
    role: 'operator',
    credential: 'token',
    isOfOneTarget: true,
    isBound: true,
  },
]

/** The service with an account, a session and API tokens for each kind of caller, and things of two targets for each. */
export async function accessWorld(mounted = functions) {
  const app = await testApp(mounted, { fake: { exec: () => ({ stdout: PCT_LIST }) } })
  const { db, services } = app
  const now = START.toISOString()
  for (const [target, vmid] of [
    [OWN, 101],
    [FOREIGN, 102],
  ] as const)
    await addCheck(db, target, vmid)
  const tokens = new Map<Caller, string>()
  const things = new Map<string, Named>()
  for (const [index, caller] of CALLERS.entries()) {
    const { role, credential, isOfOneTarget, isBound, isProven, isEnrolling = false } = caller
    const operates: Targets | null = role === 'viewer' ? null : isOfOneTarget ? [OWN] : 'all'
    const username = `caller-${index}`
    const user = await saveUser(db, username, role === 'admin', now, {
      ...{ kept_out: false, own_word: role === 'admin' ? 'administrator' : 'user' },
      operates: operates && (operates === 'all' ? operates : [...operates]),
      // The host has told the account's rights now.
      uid: 1_000 + index,
    })
    if (credential === 'session') {
      const proven = START.getTime() / 1000 - (isProven ? 0 : PROOF_SECONDS + 1)
      const bearer = { ...bearerOf({ id: user.id, username }, START), role, operates: operates ?? [] }
      tokens.set(caller, await services.sessions.accessToken({ ...bearer, proven, enrolling: isEnrolling }))
    } else {
      const token = `opt_${Buffer.alloc(32, index + 1).toString('base64url')}`
      const hash = createHash('sha256').update(token).digest('hex')
      await db.run(
        'INSERT INTO api_tokens (user_id, name, hash, role, targets, created_at) VALUES (?, ?, ?, ?, ?, ?)',
        [user.id, username, hash, role, JSON.stringify(isBound ? [OWN] : 'all'), now],
      )
      tokens.set(caller, token)
    }
    for (const target of [OWN, FOREIGN])
      things.set(`${username} ${target}`, await addThings(db, index, user.id, target, now))
  }
  let asked = 0
  return {
    ...app,
    tokenOf: (caller: Caller) => tokens.get(caller),
    /** The things of a target that a caller can name; a client without a token names those of the first caller. */
    namedBy(caller: Caller | undefined, target: string): Named {
      const index = caller ? CALLERS.indexOf(caller) : 0
      const found = things.get(`caller-${index} ${target}`) ?? things.get(`caller-${index} ${OWN}`)
      if (!found) throw new Error(`nothing of ${target}`)
      return { ...found, target }
    },
    /** Each request comes from another address, so that no limit counts. */
    address: () => `203.0.${Math.floor(++asked / 250)}.${asked % 250}`,
  }
}

export type AccessWorld = Awaited<ReturnType<typeof accessWorld>>

async function addCheck(db: Database, target: string, vmid: number): Promise<void> {
  const packages = JSON.stringify([
    {
      ...{ name: 'curl', arch: 'amd64', from: '1', to: '2', action: 'upgrade', origin: 'Debian', security: false },
      ...{ size: null, source: null, cves: [], status: 'planned', reason: null },
    },
  ])
  await db.run(`INSERT INTO checks (target, vmid, name, status, packages) VALUES (?, ?, 'web', 'running', ?)`, [
    target,
    vmid,
    packages,
  ])
}

/** Stores an ended job, a task, a plan and a run of a target. */
async function addThings(db: Database, index: number, user: number, target: string, now: string): Promise<Named> {
  const vmid = target.slice('lxc:'.length)
  const unique = `${vmid}${String(index).padStart(5, '0')}`
  const lease = { owner: 'nobody', leaseMs: 0 }
  const end = { status: 'success', error: null, error_code: null, exit_code: 0 } as const
  const of = (id: string, kind: string) => ({
    ...{
      id: `1700000000-${id}${unique.slice(1)}`,
      kind,
      args: JSON.stringify({ target, vmid: Number(vmid), action: 'start' }),
    },
    ...{ queue: '', target, started_at: now, started_by: user },
  })
  const ended = async (job: ReturnType<typeof of>) => {
    await endJob(db, await addJob(db, job, lease), end, { now })
    return job.id
  }
  const planOf = async (id: string) => {
    await addPlan(db, {
      ...{ id, target, hash: '0'.repeat(64), made_at: now, made_by: `caller-${index}` },
      ...{ expires_at: new Date(START.getTime() + 3_600_000).toISOString(), actions: '[]', findings: '[]' },
      selection: JSON.stringify({ only: 'all', packages: null, exclude: [], allow_remove: false }),
      ...{ conffiles: '[]', download_bytes: null, disk_bytes: null, job_id: null },
    })
    return id
  }
  const run = unique.padStart(24, 'b')
  const jobs = [{ job: { ...of('r', 'upgrade'), plan_id: await planOf(unique.padStart(24, 'c')) }, more: [] }]
  for (const job of await addRun(db, { id: run, jobs }, lease)) await endJob(db, job, end, { now })
  return {
    ...{ target, vmid, run },
    job: await ended(of('j', 'upgrade')),
    task: await ended(of('t', 'container')),
    plan: await planOf(unique.padStart(24, 'a')),
  }
}
