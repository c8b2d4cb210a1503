import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { followByClient } from './client-follower.ts'
import { createClientSession } from './client-session.ts'
import { followByPolling, followBySocket } from './follower.ts'
import type { Gate } from './gate.ts'
import { ACCOUNTS, TARGETS } from './host.ts'
import type { Ledger } from './ledger.ts'
import type { Random } from './random.ts'
import { createRegister } from './register.ts'
import { createLine, type World } from './traffic.ts'

interface Company {
  world: World
  ledger: Ledger
  gate: Gate
  /** Aborted when the run stops waiting for the ends of jobs. */
  given: AbortSignal
  random: Random
}

/** A started job, or the one that runs already for the same target. */
const Started = z.object({ job_id: z.string() })
const Me = z.object({ username: z.string(), theme: z.string() })
const Layout = z.looseObject({ soak: z.string().optional() })
const Packages = z.array(z.object({ name: z.string(), version: z.string(), old_version: z.string() }))
const Targets = z.array(z.object({ id: z.string(), name: z.string(), status: z.string() })).min(1)
const History = z
  .array(z.object({ job_id: z.string(), status: z.string() }))
  .max(50)
  .nullable()
const Sessions = z.array(z.object({ id: z.number(), is_current: z.boolean() }))

/** A function that follows a job, and its name. */
type Way = readonly [how: string, follow: typeof followBySocket]

const WAYS: readonly [Way, ...Way[]] = [
  ['socket', followBySocket],
  ['polling', followByPolling],
  ['the client', followByClient],
]

/** The pause of a user before the next click. */
const THINK_MS = [200, 2_500] as const
/** Short enough to cancel most jobs while they run. */
const CANCEL_MS = 1_500

/** Runs one client, with its own address, from its first login until it is dismissed. */
export async function live({ world, ledger, gate, given, random }: Company, number: number): Promise<void> {
  const address = `10.66.${number >> 8}.${number & 255}`
  const line = createLine(world, address)
  const account = ACCOUNTS[number % ACCOUNTS.length] ?? ACCOUNTS[0]
  if (!account) throw new Error('there are no accounts')
  const session = createClientSession({ world, ledger, line, random }, account)
  // Only one client of each account writes the account's stored values.
  const writer = number < ACCOUNTS.length
  const layout = createRegister(`the dashboard of ${account.username}`, '', world.findings)
  const theme = createRegister(`the theme of ${account.username}`, 'dark', world.findings)
  const follower = {
    world,
    line,
    address,
    token: () => session.token() ?? '',
    cookie: () => session.cookie() ?? '',
    given,
  }
  let writes = 0

  const get = async <body>(path: string, schema: z.ZodType<body>): Promise<body | undefined> => {
    const cookie = path.endsWith('/sessions') ? session.cookie() : undefined
    const answer = await line.ask({ method: 'GET', path, token: session.token(), cookie })
    if (answer?.status !== 200) return undefined
    const body = schema.safeParse(answer.body)
    if (!body.success) world.findings.add('undeclared', `GET ${path}: ${body.error.message}`)
    return body.data
  }

  const follow = async (id: string) => {
    const [how, followJob] = random.pick(WAYS)
    ledger.followed.push({ id, how, output: await followJob(follower, id) })
  }

  const runJob = async () => {
    const body = { target: random.pick(TARGETS) }
    const mayRefuse = ['queue_full', 'already_queued']
    const answer = await line.ask({ method: 'POST', path: '/api/updates/run', body, token: session.token(), mayRefuse })
    if (answer?.status !== 202 && answer?.code !== 'already_queued') return
    const { job_id: id } = Started.parse(answer.body)
    if (answer.status !== 202) return follow(id)
    ledger.jobs.set(id, account.username)
    const cancels = random.chance(0.08)
    await Promise.all([follow(id), cancels && cancel(id)])
  }

  const cancel = async (id: string) => {
    await pause(random.between(0, CANCEL_MS))
    ledger.cancelled.add(id)
    const path = `/api/updates/jobs/${id}/cancel`
    await line.ask({ method: 'POST', path, token: session.token(), mayRefuse: ['job_ended'] })
  }

  /** Follows a job that another client has just started. */
  const watchAnother = async () => {
    const ids = [...ledger.jobs.keys()].slice(-10)
    const [first, ...rest] = ids
    if (first !== undefined) await follow(random.pick([first, ...rest]))
  }

  const write = async () => {
    writes += 1
    const [soak, wanted] = [`${number}-${writes}`, random.pick(['dark', 'light'])]
    const token = session.token()
    layout.writing(soak)
    const saved = await line.ask({ method: 'PUT', path: '/api/dashboard/layout', body: { soak }, token })
    if (saved?.status === 200) layout.acknowledged(soak)
    theme.writing(wanted)
    const body = { theme: wanted }
    const chosen = await line.ask({ method: 'PATCH', path: '/api/auth/preferences', body, token })
    if (chosen?.status === 200) theme.acknowledged(wanted)
  }

  const look = async () => {
    const me = await get('/api/auth/me', Me)
    if (me && writer) theme.read(me.theme)
    if (me && me.username !== account.username)
      world.findings.add('unexpected', `${account.username} is ${me.username}`)
    const stored = writer ? await get('/api/dashboard/layout', Layout) : undefined
    if (stored) layout.read(stored.soak ?? '')
  }

  const actions: readonly [weight: number, action: () => Promise<unknown>][] = [
    [20, look],
    [8, () => get('/api/updates/targets', Targets)],
    [8, () => get(`/api/updates/packages?target=${random.pick(['host', 'lxc:101', 'lxc:102'])}`, Packages)],
    [14, () => get('/api/updates/history?output=none', History)],
    [1, () => get('/api/updates/history', History)],
    [6, () => get('/api/auth/sessions', Sessions)],
    [6, () => get('/api/health', z.object({ boot_id: z.string() }))],
    [6, session.refresh],
    [3, session.tryEnded],
    [2, session.signOut],
    [writer ? 20 : 0, write],
    [9, runJob],
    [7, watchAnother],
  ]
  const total = actions.reduce((sum, [weight]) => sum + weight, 0)
  const act = async () => {
    let left = random.next() * total
    for (const [weight, action] of actions) {
      left -= weight
      if (left < 0) return action()
    }
    return undefined
  }

  while (await gate.pass()) {
    await gate.rest(random.between(...THINK_MS))
    const wait = session.notBefore() - Date.now()
    if (session.token() !== undefined) await act()
    else if (wait > 0) await gate.rest(wait)
    else await session.signIn()
  }
  await line.close()
}
