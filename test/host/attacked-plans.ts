import { expect } from 'vitest'
import * as z from 'zod'
import { checkingAs } from './checking.ts'
import { type Caller, signIn } from './client.ts'
import { narrowAccount } from './narrow.ts'
import { replacePostinst } from './postinst.ts'
import { jobFolders, jobProcesses } from './remains.ts'
import { inside, type Place, rig } from './rig.ts'
import { startService } from './service.ts'

export const PLACES = ['host', '101', '102'] as const
/** Full rights by sudo, a sudo rule for apt-get and pct, a sudo rule for the host helper. */
export const ACCOUNTS = ['alice', 'ops', 'narrow'] as const
export type Account = (typeof ACCOUNTS)[number]
export type Plans = ReturnType<typeof plansOf>
export const EVERYTHING = { allow_remove: true }

const Plan = z.looseObject({
  id: z.string(),
  hash: z.string(),
  actions: z.array(z.looseObject({ name: z.string(), from: z.string().nullable(), to: z.string().nullable() })),
})
const Started = z.looseObject({ job_id: z.string() })
const Ended = z.looseObject({
  status: z.string(),
  exit_code: z.number().nullable(),
  error_code: z.string().nullable(),
  plan_difference: z.array(z.looseObject({ name: z.string() })).nullable(),
  output: z.string(),
})

export type Plan = z.infer<typeof Plan>
export type Ended = z.infer<typeof Ended>

/** The plans of one caller, and their runs. */
function plansOf(caller: Caller) {
  const { ended } = checkingAs(caller)
  const target = (place: Place) => (place === 'host' ? place : `lxc:${place}`)
  const start = async (place: Place, { id }: Plan) => {
    const { status, body } = await caller.post('/api/updates/run', { target: target(place), plan: id })
    if (status !== 202) throw new Error(`run on ${place}: ${status} ${JSON.stringify(body)}`)
    return Started.parse(body).job_id
  }
  const end = async (job: string) => {
    await ended(job)
    return Ended.parse((await caller.get(`/api/updates/jobs/${job}`)).body)
  }
  return {
    async plan(place: Place, selection: object): Promise<Plan> {
      const { status, body } = await caller.post('/api/updates/plans', { target: target(place), ...selection })
      if (status !== 201) throw new Error(`plan of ${place}: ${status} ${JSON.stringify(body)}`)
      return Plan.parse(body)
    },
    start,
    end,
    run: async (place: Place, plan: Plan) => end(await start(place, plan)),
  }
}

/** The work on one target in `everywhere`. It may return checks, which follow when every run has ended. */
type Work = (place: Place, plans: Plans, account: Account) => Promise<(() => Promise<void>) | undefined>

/** A new host with stages (`hold`) on it and in two containers, and a service of each account. */
export async function startAttacks() {
  await rig('reset')
  await narrowAccount()
  await Promise.all(
    PLACES.map(async (place) => {
      await replacePostinst(place, STAGED_POSTINST)
      await inside(place, `${STAGING}\napt-get update`)
      await inside(place, `mkdir /etc/rig/kept && cd / && cp -a --parents ${KEPT} /etc/rig/kept`)
    }),
  )
  const services = await Promise.all(ACCOUNTS.map((account) => startService({ as: account })))
  const [alice, ops, narrow] = await Promise.all(
    services.map(async (service) => plansOf(await signIn(service, 'alice'))),
  )
  if (!alice || !ops || !narrow) throw new Error('there are fewer services than accounts')
  const as: Record<Account, Plans> = { alice, ops, narrow }

  /**
   * Does the same on the host and in two containers at once, as another account each; `turn` changes their order. When
   * no process and no folder of a job is left, does the checks, and sets packages, repositories and apt's configuration
   * back.
   */
  const everywhere = async (work: Work, turn = 0) => {
    const begun = await Promise.allSettled(
      PLACES.map((place, at) => {
        const account = ACCOUNTS[(at + turn) % ACCOUNTS.length] ?? 'alice'
        return work(place, as[account], account)
      }),
    )
    await Promise.all(PLACES.map(release))
    await expect.poll(jobProcesses, { timeout: 30_000 }).toEqual([])
    await expect.poll(jobFolders, { timeout: 10_000 }).toBe('')
    const checks = begun.map((one) => (one.status === 'fulfilled' ? one.value?.() : undefined))
    const checked = await Promise.allSettled(checks)
    await Promise.all(PLACES.map((place) => inside(place, `cd / && rm -rf ${KEPT} && cp -a /etc/rig/kept/. /`)))
    for (const one of [...begun, ...checked]) if (one.status === 'rejected') throw one.reason
  }
  return { as, everywhere, stop: () => Promise.all(services.map((service) => service.stop())) }
}

/** The packages and files that runs change, and those that a test changes for them. */
const KEPT = 'etc/apt var/lib/dpkg var/lib/apt srv/rig usr/share/rig-* usr/share/doc/rig-* etc/rig-conf.conf*'

/** The installed packages of a target, and the files on it. */
export interface State {
  /** The checksum of dpkg's status, with its journal. */
  sum: string
  /** The version of each installed package. */
  versions: Map<string, string>
  /** Packages that dpkg has not finished. */
  unfinished: string[]
  /** Every file outside of the folders of packages, apt, dpkg and logs. */
  files: string[]
}

/** Waits for the checks that follow a run: each has a folder of its own as long as it takes, and must leave none. */
export async function stateOf(place: Place): Promise<State> {
  await expect.poll(() => inside(place, CHECKING), { timeout: 60_000 }).toBe('')
  const [sum = '', packages = '', files = ''] = (await inside(place, STATE)).split('\n\n')
  const installed = packages.split('\n').flatMap((line) => {
    const [name = '', status = '', version = ''] = line.split(' ')
    return status === 'config-files' || status === 'not-installed' ? [] : [{ name, status, version }]
  })
  return {
    sum,
    versions: new Map(installed.map(({ name, version }) => [name, version])),
    unfinished: installed.filter(({ status }) => status !== 'installed').map(({ name }) => name),
    files: files.split('\n'),
  }
}

const CHECKING = "find /tmp -maxdepth 1 \\( -name 'ops-panel-check-*' -o -name 'ops-panel-look-*' \\)"
const STATE = `cat /var/lib/dpkg/status /var/lib/dpkg/updates/[0-9]* 2>/dev/null | md5sum
echo
dpkg-query -W -f '\${Package} \${db:Status-Status} \${Version}\\n'
echo
find / /run /tmp /dev/shm -xdev \\( -path /proc -o -path /sys -o -path /dev/pts -o -path /var/lib/dpkg -o -path /var/lib/apt \\
  -o -path /var/cache -o -path /var/log -o -path /var/lib/rig -o -path '/var/lib/ops-panel-rig*' -o -path /etc/rig \\
  -o -path /srv/rig -o -path '/usr/share/rig-*' -o -path '/usr/share/doc/rig-*' -o -path /run/ops-panel-host -o -path /run/sudo \\
  -o -path '/var/tmp/ops-panel-jobs-*' \\) -prune -o -print 2>/dev/null | sort -u`

/** How much of the plan a run has done. */
export type Done = 'nothing' | 'a part' | 'everything'

/**
 * Returns how much of a plan was done between two states. Expects that nothing else was: no other package, no other
 * version, no package half done that the plan does not have, and no new file.
 */
export function doneOf(plan: Plan, before: State, after: State): Done {
  expect(after.files).toEqual(before.files)
  const planned = new Map(plan.actions.map(({ name, to }) => [name, to ?? undefined]))
  const changed = [...new Set([...before.versions.keys(), ...after.versions.keys()])].filter(
    (name) => before.versions.get(name) !== after.versions.get(name),
  )
  expect(changed.map((name) => [name, after.versions.get(name)])).toEqual(
    changed.map((name) => [name, planned.has(name) ? planned.get(name) : 'not planned']),
  )
  expect(after.unfinished.filter((name) => !planned.has(name))).toEqual([])
  if (after.sum === before.sum) return 'nothing'
  return changed.length === planned.size && after.unfinished.length === 0 ? 'everything' : 'a part'
}

/** The error code of a run, or its exit code. */
export const codeOf = ({ exit_code, error_code }: Ended) => error_code ?? exit_code

/** Expects that a record tells no more than what was done. */
export function expectTruth({ status, exit_code, error_code }: Ended, done: Done): void {
  if (status === 'success' && exit_code === 0) expect(done).toBe('everything')
  else if (error_code === 'plan_changed' || error_code === 'plan_not_begun') expect(done).toBe('nothing')
  else expect(exit_code).not.toBe(0)
}

/** Where a run can be made to wait, in their order. */
export const STAGES = ['choosing', 'preferences', 'downloaded', 'hook', 'unpacking', 'configuring', 'after'] as const
export type Stage = (typeof STAGES)[number]

/** Wraps programs that the choice and the hook run, and adds hooks of apt and dpkg. */
const STAGING = `set -e
mkdir -p -m 777 /etc/rig/stage
cat >/usr/local/sbin/rig-stage <<'S'
#!/bin/sh
[ "$1" != hook ] || : >/etc/rig/stage/asked
read -r held 2>/dev/null </etc/rig/stage/hold && [ "$held" = "$1" ] || exit 0
: >/etc/rig/stage/reached
while [ -e /etc/rig/stage/hold ]; do sleep 0.01; done
S
wrap() {
  mv "/usr/bin/$1" "/usr/bin/$1.own"
  printf '#!/bin/sh\\n%s\\nexec /usr/bin/%s.own "$@"\\n' "$2" "$1" >"/usr/bin/$1"
  chmod 755 "/usr/bin/$1" /usr/local/sbin/rig-stage
}
wrap sha256sum '/usr/local/sbin/rig-stage hook'
wrap cat '[ "$1" != /etc/apt/preferences ] || if [ -n "$PLAN_BOUND" ]; then /usr/local/sbin/rig-stage preferences; else /usr/local/sbin/rig-stage choosing; fi'
echo 'DPkg { Pre-Invoke { "/usr/local/sbin/rig-stage downloaded"; }; Post-Invoke { "/usr/local/sbin/rig-stage after"; }; };' \\
  >/etc/apt/apt.conf.d/00rig-stage
mkdir -p /etc/dpkg/dpkg.cfg.d
echo 'pre-invoke=[ "$DPKG_HOOK_ACTION" = configure ] || /usr/local/sbin/rig-stage unpacking' >/etc/dpkg/dpkg.cfg.d/rig-stage`

/** The postinst of rig-slow, with a stage. */
const STAGED_POSTINST = `#!/bin/sh
[ "$1" = configure ] && [ -n "$2" ] || exit 0
/usr/local/sbin/rig-stage configuring
for line in 1 2 3 4 5; do echo "rig-slow: step $line of 5"; sleep 0.02; done
`

/**
 * Makes the next run in a target wait at a stage. The file `/etc/rig/stage/asked` appears when the hook of that run
 * computes its sum.
 */
export async function hold(place: Place, stage: Stage): Promise<void> {
  await inside(place, `rm -f /etc/rig/stage/reached /etc/rig/stage/asked; echo ${stage} >/etc/rig/stage/hold`)
}

/** Waits until a run has reached the stage where it waits. */
export async function reached(place: Place): Promise<void> {
  await inside(place, 'for n in $(seq 2000); do [ ! -e /etc/rig/stage/reached ] || exit 0; sleep 0.01; done; exit 1')
}

export async function release(place: Place): Promise<void> {
  await inside(place, 'rm -f /etc/rig/stage/hold')
}
