import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { enableModule, findModule, saveModule } from '../../../db/modules.ts'
import { createGuard } from '../../../modules/guard/guard.ts'
import { endFile, type Note, writeRecord } from '../../../modules/guard/notes.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { takenOutEvent } from '../../../serve/module-start.ts'
import { audited } from '../../functions/answers.ts'
import { told } from '../../functions/notifications/told.ts'
import { record, withModules } from '../../functions/modules/module.ts'

const HOUR_MS = 3_600_000
/** The note of a service that a system call has blocked, nobody knows whose. */
const UNKNOWN = { what: 'blocked', module: null, release: null, place: '' } as const
const INSTALLED = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`

/** A service that nobody counts, as in a container, with the modules `old` and `new`. */
async function guarded({ isCounted = false } = {}) {
  const { db, folder, services } = await withModules([])
  await db.batch([
    saveModule(record('old', { backend: 'backend.mjs' }), INSTALLED(1)),
    saveModule(record('new', { backend: 'backend.mjs' }), INSTALLED(2)),
    saveModule(record('plain'), INSTALLED(3)),
  ])
  const dataDir = await temporaryFolder()
  let [now, machine] = [Date.parse('2026-01-02T00:00:00Z'), 'boot']
  return {
    db,
    dataDir,
    later(ms: number) {
      now += ms
    },
    reboot() {
      machine = 'another'
    },
    note: (note: Partial<Note>) =>
      writeRecord(endFile(dataDir), {
        what: 'loop',
        module: 'new',
        release: INSTALLED(2),
        place: 'backend.mjs:1',
        message: '',
        ...note,
      }),
    /** A start that ends without a word, unless it is stopped. */
    async start({ trial, endsTooOften = false }: { trial?: string; endsTooOften?: boolean } = {}) {
      const { log } = services
      const about = {
        db,
        folder,
        dataDir,
        clock: () => new Date(now),
        log,
        machine,
        isCounted,
        isRestarted: true,
        tell: takenOutEvent,
      }
      const guard = createGuard(about)
      const begun = await guard.begin({ trial, endsTooOften })
      const faults = await Promise.all(['old', 'new'].map(async (id) => (await findModule(db, id))?.fault ?? null))
      return { ...begun, out: ['old', 'new'].filter((_, index) => faults[index] !== null), stop: () => guard.stop() }
    },
  }
}

test('the module that a note blames is taken out, with its reason and an entry in the audit log', async () => {
  const { db, note, start } = await guarded()
  note({})

  expect(await start()).toMatchObject({ out: ['new'], isDifferent: true, withoutAll: false })

  const fault = 'Son code ne s’est pas terminé et a bloqué le service (backend.mjs:1).'
  expect(await findModule(db, 'new')).toMatchObject({ fault, is_enabled: 1, updated_at: INSTALLED(2) })
  expect(await audited(db)).toMatchObject([
    { action: 'module_taken_out', username: null, ip: 'service', target: 'new', details: { error: fault } },
  ])
  expect(await told(db)).toMatchObject([
    {
      event: 'module_taken_out',
      severity: 'warning',
      target: null,
      details: { module: 'new', name: 'Le module new', message: fault },
    },
  ])
  expect(await start()).toMatchObject({ out: ['new'], isDifferent: false })
  expect(await told(db)).toHaveLength(1)
})

test.each([
  ['that was installed anew since', { release: INSTALLED(1) }],
  ['that is not installed', { module: 'other' }],
  ['without code', { module: 'plain', release: INSTALLED(3) }],
  ['of the panel itself', { module: 'settings' }],
  ['that nobody knows, after the service’s own code did not return', { what: 'hang', module: null, release: null }],
] as const)('a note about a module %s takes nothing out', async (_, about) => {
  const { db, note, start } = await guarded()
  note(about)

  expect(await start()).toMatchObject({ out: [], isDifferent: false, withoutAll: false })
  expect(await audited(db)).toEqual([])
})

test('a broken note takes nothing out', async () => {
  const { dataDir, start } = await guarded()
  writeFileSync(endFile(dataDir), '{"what":"loop","module":"../../new"')

  expect(await start()).toMatchObject({ out: [], isDifferent: false })
})

test('a module that was taken out is tried again when a person enables it', async () => {
  const { db, note, start } = await guarded()
  note({})
  await start()

  await db.batch([enableModule('new', true, INSTALLED(5))])

  expect(await start()).toMatchObject({ out: [] })
})

test('after three early ends in a row one module after another is left out, and finally all', async () => {
  const { db, start } = await guarded()

  for (let ends = 0; ends < 3; ends += 1) expect(await start()).toMatchObject({ out: [], isDifferent: false })
  expect(await start()).toMatchObject({ out: ['new'], isDifferent: true })
  expect(await start()).toMatchObject({ out: ['old'], isDifferent: true })
  expect(await start()).toMatchObject({ out: [], isDifferent: true, withoutAll: true })
  const last = await start()
  expect(last).toMatchObject({ out: [], isDifferent: false, withoutAll: true })
  expect((await audited(db)).map(({ action, target }) => [action, target])).toEqual([
    ['module_taken_out', 'new'],
    ['module_enabled', 'new'],
    ['module_taken_out', 'old'],
    ['module_enabled', 'old'],
  ])
  // A person has stopped it, so the next start tries them all again.
  last.stop()
  expect(await start()).toMatchObject({ out: [], withoutAll: false })
})

test('ends in an orderly way, reboots and rare ends take nothing out', async () => {
  const { reboot, start } = await guarded()

  for (let ends = 0; ends < 5; ends += 1) (await start()).stop()
  for (let ends = 0; ends < 2; ends += 1) await start()
  reboot()
  for (let ends = 0; ends < 3; ends += 1) expect(await start()).toMatchObject({ out: [] })
})

test('where another process counts the ends, its word counts', async () => {
  const { start } = await guarded({ isCounted: true })
  for (let ends = 0; ends < 5; ends += 1) expect(await start()).toMatchObject({ out: [] })

  expect(await start({ endsTooOften: true })).toMatchObject({ out: ['new'], isDifferent: true })
  expect(await start()).toMatchObject({ out: ['new'], isDifferent: false })
  expect(await start({ endsTooOften: true })).toMatchObject({ out: ['old'], isDifferent: true })
  expect(await start({ endsTooOften: true })).toMatchObject({ out: [], withoutAll: true })
  expect(await start({ endsTooOften: true })).toMatchObject({ out: [], withoutAll: true, isDifferent: false })
})

test('a service that was blocked once, as by a slow disk, starts again with all modules', async () => {
  const { note, start, later } = await guarded({ isCounted: true })
  for (let day = 0; day < 5; day += 1) {
    note(UNKNOWN)
    expect(await start()).toMatchObject({ out: [], isDifferent: false })
    expect(await start()).toMatchObject({ out: [], isDifferent: false })
    later(24 * HOUR_MS)
  }
})

test('a service whose own code does not return again within an hour leaves the newest module out', async () => {
  const { note, start } = await guarded()
  const hang = { ...UNKNOWN, what: 'hang', place: 'node' } as const
  note(hang)
  expect(await start()).toMatchObject({ out: [], isDifferent: false })
  note(hang)
  expect(await start()).toMatchObject({ out: ['new'], isDifferent: true })
})

test('the notice of a module that was taken out has nothing of the text of its error', async () => {
  const { db, note, start } = await guarded()
  note({ what: 'error', place: 'backend.mjs:3', message: 'connect https://user:secret@host' })
  await start()

  expect((await findModule(db, 'new'))?.fault).toMatch(/\(backend\.mjs:3\) : connect https:\/\/user:secret@host$/)
  expect(await told(db)).toMatchObject([{ details: { message: 'Son code a arrêté le service (backend.mjs:3).' } }])
})

test('a service that is blocked again within an hour leaves the newest module out, and then the one before', async () => {
  const { note, start, later } = await guarded({ isCounted: true })
  note(UNKNOWN)
  await start()

  later(HOUR_MS / 2)
  await start()
  note(UNKNOWN)
  expect(await start()).toMatchObject({ out: ['new'], isDifferent: true })

  later(HOUR_MS / 2)
  note(UNKNOWN)
  expect(await start()).toMatchObject({ out: ['old'] })

  later(2 * HOUR_MS)
  note(UNKNOWN)
  expect(await start()).toMatchObject({ out: ['old'] })
  note(UNKNOWN)
  expect(await start()).toMatchObject({ out: ['old', 'new'] })
})

test('a module that was left out in vain is back once the culprit is known', async () => {
  const { note, start } = await guarded({ isCounted: true })
  await start({ endsTooOften: true })
  note({ what: 'exit', module: 'old', release: INSTALLED(1) })

  expect(await start({ endsTooOften: true })).toMatchObject({ out: ['old'] })
})

test('a person’s decision about a suspect stays', async () => {
  const { db, start } = await guarded({ isCounted: true })
  await start({ endsTooOften: true })
  await db.batch([enableModule('new', false, INSTALLED(5))])

  expect(await start({ endsTooOften: true })).toMatchObject({ out: ['old'] })
  expect(await findModule(db, 'new')).toMatchObject({ is_enabled: 0, fault: null })
})

test('the trial of a change takes out what a note of the service blames, and nothing else', async () => {
  const { note, start } = await guarded()
  for (let ends = 0; ends < 3; ends += 1) await start()

  expect(await start({ trial: 'one' })).toMatchObject({ out: [], withoutAll: false })
  note({})
  expect(await start({ trial: 'one' })).toMatchObject({ out: ['new'] })
})

test('a note that a trial has left counts in this trial only, because the change was rolled back', async () => {
  const { note, start } = await guarded({ isCounted: true })
  for (const about of [{}, UNKNOWN, {}]) {
    note({ ...about, trial: 'one' })
    expect(await start()).toMatchObject({ out: [], isDifferent: false })
  }
  note({ trial: 'one' })
  expect(await start({ trial: 'another' })).toMatchObject({ out: [] })
  note({ trial: 'one' })
  expect(await start({ trial: 'one' })).toMatchObject({ out: ['new'] })
})
