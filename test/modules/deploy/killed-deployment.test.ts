import { readdir } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from '@libsql/client'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { type End, ENDS, type Step, STEPS } from '../../../db/deployments.ts'
import { openDatabase } from '../../../db/libsql/client.ts'
import type { Database } from '../../../db/libsql/database.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { type TestForge, testForge } from '../../forge.ts'
import { repository } from '../../functions/modules/module.ts'
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

/** Settles while another process is in the middle of a long write. */
async function inWrite(folder: string): Promise<void> {
  const client = createClient({ url: `file:${folder}/panel.db` })
  onTestFinished(() => client.close())
  for (let since = performance.now(); performance.now() - since < HELD_MS; await pause(20)) {
    const write = await client.transaction('write').catch(() => undefined)
    if (!write) continue
    since = performance.now()
    await write.rollback()
  }
}

const Row = z.object({ state: z.enum([...STEPS, ...ENDS]), finished_at: z.string().nullable() })
/** The deployment of the second version. */
async function findSecond(db: Database) {
  const [row] = await db.query(Row, 'SELECT state, finished_at FROM deployments ORDER BY rowid LIMIT 1 OFFSET 1')
  return row
}

/** Publishes a second version that leads to this state. */
function newVersion(forge: TestForge, state: State): void {
  forge.put(repository('wordy', '2.0.0', state === 'rolled_back' ? 'process.exit(3)' : undefined))
  forge.behave = (request, response) => {
    if (state !== 'failed' || !request.url?.includes('backend.mjs')) return false
    response.writeHead(500).end()
    return true
  }
}

test.each(WALK)(
  'a service killed with %s %s serves after its next start, with all of the new version or all of the previous one',
  async (state, when) => {
    const folder = await temporaryFolder()
    const forge = await testForge()
    forge.put(repository('wordy', '1.0.0'))
    const service = await startReplaceable(forge, folder)
    expect(await service.install('wordy')).toMatchObject({ state: 'done' })
    const db = await openDatabase(`file:${folder}/panel.db`)
    onTestFinished(() => db.close())
    newVersion(forge, state)
    const reached = STATES.slice(STATES.indexOf(state))

    if (when === 'about to be recorded') await holdWrite(db, state)
    const asked = service.post('/api/registry/modules/wordy/install').catch(() => undefined)
    if (when === 'about to be recorded') await inWrite(folder)
    else
      for (;;) {
        const row = await findSecond(db)
        if (row && reached.includes(row.state)) break
        await pause(1)
      }
    await killAll(service)
    await asked
    const left = await findSecond(db)
    await db.script('DROP TRIGGER IF EXISTS held')
    forge.behave = undefined

    const next = await startReplaceable(forge, folder)

    await expect.poll(async () => (await findSecond(db))?.finished_at, { timeout: 20_000 }).not.toBe(null)
    const end = (await findSecond(db))?.state
    console.log(`killed with ${state} ${when}: left as ${left?.state ?? 'nothing'}, ended as ${end ?? 'nothing'}`)
    // A recorded step may be over before the signal arrives; an end stays.
    if (when === 'about to be recorded') expect(left?.state).toBe(BEFORE[state])
    else expect(ENDS.some((each) => each === state) ? [state] : reached).toContain(left?.state)
    const version = end === 'done' ? '2.0.0' : '1.0.0'
    expect(await next.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: version } })
    expect(await next.get('/api/repair/modules')).toMatchObject({ body: [{ id: 'wordy', version, problem: null }] })
    expect((await readdir(`${folder}/modules`)).sort()).toEqual(['.place', 'wordy'])
  },
  LONG,
)
