import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { checkingAs } from './checking.ts'
import { type Caller, signIn } from './client.ts'
import { narrowAccount } from './narrow.ts'
import { rig } from './rig.ts'
import { startService } from './service.ts'

const Plan = z.looseObject({
  id: z.string(),
  findings: z.array(z.looseObject({ code: z.string() })),
  conffiles: z.array(
    z.looseObject({
      file: z.string(),
      package: z.string(),
      state: z.string(),
      choice: z.string(),
      diff: z.string().nullable(),
      diff_missing: z.string().nullable(),
    }),
  ),
})
const Job = z.looseObject({ status: z.string(), exit_code: z.number().nullable(), output: z.string().optional() })

const OPEN = '/etc/rig open.d/open.conf'
const SECRET = '/etc/rig-secret.conf'
const SAME = '/etc/rig-same.conf'
const BLOB = '/etc/rig-blob.conf'
const WRITABLE = '/etc/rig-account/account.conf'
const FILES = [OPEN, SECRET, SAME, BLOB, WRITABLE]
const ALL = [WRITABLE, BLOB, SAME, SECRET, OPEN].sort()

type Place = 'host' | '101'

const inside = (place: Place, script: string) => rig('in', place, 'sh', '-c', script)

/** The package in two versions, of which the first is installed and has files that somebody has changed. */
async function changedFiles(place: Place): Promise<void> {
  const files = (n: number) => [
    `conffile=${OPEN}:one\\nport=${n}\\nlast\\n`,
    `conffile=${SECRET}:password=${n}\\n`,
    `conffile=${SAME}:same\\n`,
    `conffile=${BLOB}:\\0001\\0000${n}\\n`,
    `conffile=${WRITABLE}:account=${n}\\n`,
  ]
  await inside(place, `dpkg --purge rig-files >/dev/null 2>&1; rm -f ${FILES.map((file) => `'${file}'*`).join(' ')}`)
  await rig('install', place, 'rig-files', '1.0', ...files(1))
  await inside(
    place,
    `for file in ${FILES.map((file) => `'${file}'`).join(' ')}; do echo mine=1 >>"$file"; done
    chmod 640 ${SECRET}; chown games:games /etc/rig-account; chown games '${OPEN}'`,
  )
  await rig('publish', place, 'rig-files', '2.0', ...files(2))
  await inside(place, 'apt-get update')
}

/** Plans of the package alone. */
function planningAs(caller: Caller) {
  const { ended } = checkingAs(caller)
  const parsed = ({ status, body }: { status: number; body: unknown }, expected = 200) => {
    if (status !== expected) throw new Error(`${status} ${JSON.stringify(body)}`)
    return Plan.parse(body)
  }
  return {
    plan: async (target: string) =>
      parsed(await caller.post('/api/updates/plans', { target, packages: ['rig-files'] }), 201),
    compare: async (id: string) => parsed(await caller.post(`/api/updates/plans/${id}/conffiles`, {})),
    read: async (id: string) => parsed(await caller.get(`/api/updates/plans/${id}`)),
    choose: (id: string, choices: object) => caller.put(`/api/updates/plans/${id}/conffiles`, { choices }),
    async run(target: string, plan: string) {
      const { body } = await caller.post('/api/updates/run', { target, plan })
      const { job_id } = z.looseObject({ job_id: z.string() }).parse(body)
      await ended(job_id)
      return Job.parse((await caller.get(`/api/updates/jobs/${job_id}`)).body)
    },
  }
}

/** The content of the files, of what lies beside them, and what dpkg has recorded of them. */
const contents = (place: Place, file: string) =>
  inside(
    place,
    `for end in '' .dpkg-old .dpkg-dist .dpkg-new .dpkg-tmp; do [ ! -f '${file}'$end ] || echo "$end:" $(cat '${file}'$end | tr -d '\\001\\000'); done`,
  )

describe.each([
  ['alice', 'host'],
  ['alice', '101'],
  ['ops', '101'],
  ['narrow', 'host'],
  ['narrow', '101'],
] as const)('as %s on %s', (account, place) => {
  const target = place === 'host' ? 'host' : `lxc:${place}`
  let admin: ReturnType<typeof planningAs>
  let bob: ReturnType<typeof planningAs>
  beforeAll(async () => {
    await rig('reset')
    if (account === 'narrow') await narrowAccount()
    await changedFiles(place)
    const service = await startService({ as: account })
    admin = planningAs(await signIn(service, 'alice'))
    bob = planningAs(await signIn(service, 'bob'))
    return () => service.stop()
  }, 60_000)

  test('a plan names the changed files, a comparison shows how they differ, and leaves nothing behind', async () => {
    const before = await inside(place, 'ls -A /tmp /var/tmp /var/cache/apt/archives')

    const plan = await admin.plan(target)
    const compared = await admin.compare(plan.id)

    expect(plan.conffiles.map(({ file }) => file).sort()).toEqual(ALL)
    expect(plan.conffiles.every(({ state, diff }) => state === 'changed' && diff === null)).toBe(true)
    expect(plan.findings.map(({ code }) => code)).toContain('conffile_changed')
    const found = new Map(compared.conffiles.map((one) => [one.file, one]))
    const isNarrow = account === 'narrow'
    expect(found.get(OPEN)).toMatchObject({
      state: 'conflict',
      diff: '@@ -1,4 +1,3 @@\n one\n-port=1\n+port=2\n last\n-mine=1\n',
    })
    expect(found.get(SECRET)).toMatchObject(
      isNarrow
        ? { state: 'conflict', diff: null, diff_missing: 'hidden' }
        : { state: 'conflict', diff: expect.stringContaining('+password=2') },
    )
    const shown = (await bob.read(plan.id)).conffiles
    expect(shown.find(({ file }) => file === OPEN)?.diff).toContain('+port=2')
    expect(shown.find(({ file }) => file === SECRET)).toMatchObject({
      diff: null,
      diff_missing: isNarrow ? 'hidden' : 'private',
    })
    expect(await bob.choose(plan.id, [{ file: OPEN, choice: 'take' }])).toMatchObject({ status: 403 })
    expect(found.get(SAME)).toMatchObject({ state: 'same', diff: null })
    expect(found.get(BLOB)).toMatchObject({ state: 'conflict', diff: null, diff_missing: 'binary' })
    expect(await inside(place, 'ls -A /tmp /var/tmp /var/cache/apt/archives')).toBe(before)
  }, 60_000)

  test('the chosen file gets the new version, the others stay, and each loser lies beside', async () => {
    const plan = await admin.compare((await admin.plan(target)).id)
    const choices = [OPEN, BLOB, WRITABLE].map((file) => ({ file, choice: 'take' }))
    expect(await admin.choose(plan.id, [{ file: SAME, choice: 'take' }])).toMatchObject({ status: 422 })
    expect(await admin.choose(plan.id, choices)).toMatchObject({ status: 200 })

    const job = await admin.run(target, plan.id)

    expect(job).toMatchObject({ status: 'success', exit_code: 0 })
    expect(await contents(place, OPEN)).toBe(': one port=2 last\n.dpkg-old: one port=1 last mine=1')
    expect(await inside(place, `stat -c '%U %a' '${OPEN}' '${OPEN}.dpkg-old'`)).toBe('games 644\ngames 644')
    expect(await contents(place, BLOB)).toBe(': 2\n.dpkg-old: 1 mine=1')
    expect(await contents(place, SECRET)).toBe(': password=1 mine=1\n.dpkg-dist: password=2')
    expect(await contents(place, SAME)).toBe(': same mine=1')
    // Another account can write its folder: nothing is replaced there.
    expect(await contents(place, WRITABLE)).toBe(': account=1 mine=1\n.dpkg-dist: account=2')
    expect(job.output).toContain(`ops-panel-plan: ${OPEN} is the new version; the former one is ${OPEN}.dpkg-old.`)
    expect(job.output).toContain(`ops-panel-plan: ${WRITABLE} stays as it is`)
    // dpkg counts the taken file as unchanged.
    expect(await inside(place, `dpkg --verify rig-files | grep -c open.conf || :`)).toBe('0')
  }, 60_000)
})
