import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from '@libsql/client'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { type End, ENDS, type Step, STEPS } from '../../../db/deployments.ts'
import { openDatabase } from '../../../db/libsql/client.ts'
import type { Database } from '../../../db/libsql/database.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { type TestForge, testForge } from '../../forge.ts'
import { repository, withPage } from '../../functions/modules/module.ts'
import { isLong } from '../../rounds.ts'
import { killAll, startReplaceable } from '../../serve/replaceable.ts'

/** The tests start several processes, on a machine that may be busy. */
const LONG = 120_000
/** Longer than any write of the service takes by itself. */
const HELD_MS = 300

type State = Step | End
const STATES = [...STEPS, ...ENDS]
const WALK = STATES.flatMap((state) => [[state, 'about to be recorded'] as const, [state, 'recorded'] as const])

/** The recorded state until a state is recorded. */
const BEFORE: Record<State, State | undefined> = {
  building: undefined,
  replacing: 'building',
  restarting: 'replacing',
  done: 'restarting',
  failed: 'building',
  rolled_back: 'restarting',
}

/** Makes the write that records a state run forever, so that it is in progress and has no effect. */
async function holdWrite(db: Database, state: State): Promise<void> {
  const when =
    state === 'building'
      ? 'INSERT ON deployments'
      : `UPDATE OF state ON deployments WHEN OLD.state <> NEW.state AND NEW.state = '${state}'`
  const endless =
    'SELECT count(*) FROM (WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1e12) SELECT i FROM n)'
  await db.script(`CREATE TRIGGER held BEFORE ${when} BEGIN ${endless}; END`)
}

/** Settles while another process is in the middle of a long write; `expectTaken` throws when there will be none. */
async function inWrite(folder: string, expectTaken: () => void): Promise<void> {
  const client = createClient({ url: `file:${folder}/panel.db` })
  onTestFinished(() => client.close())
  for (let since = performance.now(); performance.now() - since < HELD_MS; await pause(20)) {
    expectTaken()
    const write = await client.transaction('write').catch(() => undefined)
    if (!write) continue
    since = performance.now()
    await write.rollback()
  }
}

const Row = z.object({ state: z.enum([...STEPS, ...ENDS]), finished_at: z.string().nullable() })
/** The deployment after so many earlier ones. */
async function findAfter(db: Database, earlier: number) {
  const sql = 'SELECT state, finished_at FROM deployments ORDER BY rowid LIMIT 1 OFFSET ?'
  const [row] = await db.query(Row, sql, [earlier])
  return row
}

/** The versions that are installed before the change, the change, and the version that it leads to. */
const CHANGES = [
  { name: 'install', before: [], version: '1.0.0' },
  { name: 'update', before: ['1.0.0'], version: '2.0.0' },
  { name: 'return', before: ['1.0.0', '2.0.0'], version: '1.0.0' },
] as const
type Change = (typeof CHANGES)[number]

/** Publishes a version, with code that does not start if the change has to be rolled back. */
function publish(forge: TestForge, version: string, code?: string): string {
  forge.put(withPage(repository('wordy', version, code), version))
  return forge.tip('wordy', 'main')
}

// A version that does not start was never installed, so nobody returns to it.
const changesOf = (state: State) => CHANGES.slice(0, state === 'rolled_back' ? 2 : CHANGES.length)
/** One change at each point, in turn; `npm run test:long` makes every change at each. */
const CASES = WALK.flatMap(([state, when], n) => {
  const changes = changesOf(state)
  return (isLong ? changes : [changes[n % changes.length] ?? CHANGES[0]]).map(
    (change) => [state, when, change.name, change] as const,
  )
})

test.each(CASES)(
  'a service killed with %s %s (%s) serves after its next start, with all of the new version or all of the previous one',
  async (state, when, _, { name, before, version }: Change) => {
    const folder = await temporaryFolder()
    const forge = await testForge()
    const service = await startReplaceable(forge, folder)
    const commits = new Map<string, string>()
    for (const each of before) {
      commits.set(each, publish(forge, each))
      expect(await service.install('wordy')).toMatchObject({ state: 'done' })
    }
    const db = await openDatabase(`file:${folder}/panel.db`)
    onTestFinished(() => db.close())
    const earlier = before.length
    if (name !== 'return') publish(forge, version, state === 'rolled_back' ? 'process.exit(3)' : undefined)
    // Without the next step, the deployment fails.
    if (state === 'failed')
      await db.script(`CREATE TRIGGER refused BEFORE UPDATE OF state ON deployments WHEN NEW.state = 'replacing'
        BEGIN SELECT RAISE(ABORT, 'refused'); END`)
    const reached = STATES.slice(STATES.indexOf(state))

    if (when === 'about to be recorded') await holdWrite(db, state)
    const body = name === 'return' ? { commit: commits.get(version), previous: true } : {}
    let refused: string | undefined
    const asked = service.post('/api/registry/modules/wordy/install', body).then(
      async (answer) => {
        if (answer.status !== 202) refused = await answer.text()
      },
      () => undefined,
    )
    const expectTaken = () => expect(refused).toBe(undefined)
    if (when === 'about to be recorded') await inWrite(folder, expectTaken)
    else
      for (;;) {
        expectTaken()
        const row = await findAfter(db, earlier)
        if (row && reached.includes(row.state)) break
        await pause(1)
      }
    await killAll(service)
    await asked
    const left = await findAfter(db, earlier)
    await db.script('DROP TRIGGER IF EXISTS held; DROP TRIGGER IF EXISTS refused')

    const next = await startReplaceable(forge, folder)

    await expect.poll(async () => (await findAfter(db, earlier))?.finished_at, { timeout: 20_000 }).not.toBe(null)
    const end = (await findAfter(db, earlier))?.state
    console.log(
      `killed with ${state} ${when} (${name}): left as ${left?.state ?? 'nothing'}, ended as ${end ?? 'nothing'}`,
    )
    // A recorded step may be over before the signal arrives; an end stays.
    if (when === 'about to be recorded') expect(left?.state).toBe(BEFORE[state])
    else expect(ENDS.some((each) => each === state) ? [state] : reached).toContain(left?.state)
    const now = end === 'done' ? version : before.at(-1)
    const found = now === undefined ? [] : [{ id: 'wordy', version: now, problem: null }]
    expect(await next.get('/api/modules/wordy/word')).toMatchObject(
      now === undefined ? { status: 404 } : { status: 200, body: { word: now } },
    )
    expect(await next.get('/api/repair/modules')).toMatchObject({ body: found })
    expect((await readdir(`${folder}/modules`).catch(() => [])).filter((each) => each !== '.place')).toEqual(
      now === undefined ? [] : ['wordy'],
    )
    for (const file of now === undefined ? [] : ['page/index.html', 'page/page.js'])
      expect(await readFile(`${folder}/modules/wordy/${file}`, 'utf8')).toBe(now)
  },
  LONG,
)
