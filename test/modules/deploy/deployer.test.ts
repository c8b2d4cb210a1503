import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addDeployment, countTry, enterStep, findDeployment, STEPS } from '../../../db/deployments.ts'
import { StorageError } from '../../../db/libsql/database.ts'
import { findModule, type ModuleRow, saveModule } from '../../../db/modules.ts'
import { createDeployer } from '../../../modules/deploy/deployer.ts'
import {
  confirmDeployment,
  type Decision,
  failTrial,
  publishDeployment,
  resumeDeployment,
} from '../../../modules/deploy/deployment.ts'
import { ensurePlace, moduleFiles } from '../../../modules/folder.ts'
import { createLog } from '../../../platform/log.ts'
import { createHub } from '../../../platform/hub.ts'
import { NOW, openMigrated } from '../../db/database.ts'
import { record, temporaryFolder, writeFiles } from '../../functions/modules/module.ts'

const OLD = record('wordy', { backend: 'backend.mjs', version: '1.0.0' })
const NEW = { ...OLD, version: '2.0.0' }
const files = { all: new Map([['backend.mjs', Buffer.from('new')]]), commit: null }
/** Files of which one cannot be written: it has no name. */
const unusable = { all: new Map([['', Buffer.from('new')]]), commit: null }

/** A folder of modules and a database, with the old version in them if `installed`. */
async function start({ installed = true } = {}) {
  const db = await openMigrated()
  const folder = await temporaryFolder()
  if (installed) {
    await db.batch([saveModule(OLD, NOW)])
    await writeFiles(folder, { 'wordy/backend.mjs': 'old' })
  }
  const gone = new Set<string>()
  const instance = { id: 'this', isGone: async (id: string) => gone.has(id), runs: async (id: string) => !gone.has(id) }
  const hub = createHub()
  const { log } = createLog({ level: 'silent', write: () => {} })
  const services = { db, folder, instance, hub, clock: () => new Date(NOW), log }
  const before = await findModule(db, 'wordy')
  return {
    ...services,
    services,
    before,
    gone,
    /** Returns the version on record, the code in place, and the entries of the folder. */
    now: async () => ({
      version: (await findModule(db, 'wordy'))?.version,
      code: existsSync(join(folder, 'wordy')) ? await readFile(join(folder, 'wordy/backend.mjs'), 'utf8') : undefined,
      entries: (await readdir(folder)).filter((name) => name !== '.place').sort(),
    }),
  }
}
type Started = Awaited<ReturnType<typeof start>>

const AS_BEFORE = { version: '1.0.0', code: 'old', entries: ['wordy'] }
const NOTHING = { version: undefined, code: undefined, entries: [] }

/** Records a deployment whose service is gone. */
async function abandoned({ db, folder, gone }: Started, before: ModuleRow | undefined): Promise<string> {
  gone.add('another')
  const place = await ensurePlace(folder)
  const begun = { id: 'd', module: 'wordy', place, owner: 'another', before, files_before: before !== undefined }
  await addDeployment(db, { ...begun, started_at: NOW })
  return begun.id
}

test('a subscriber has to reconnect when a deployment cannot be read, and the deployment continues', async () => {
  const { services, db, hub } = await start()
  const received: unknown[] = []
  hub.subscribe('deploy:d', {
    deliver: () => received.push('event'),
    finish: () => received.push('end'),
    fail: (error) => received.push(error),
  })
  const away = new StorageError('away')

  await publishDeployment({ ...services, db: { ...db, query: () => Promise.reject(away) } }, 'd')

  expect(received).toEqual([away])
  expect(hub.subscribers('deploy:d')).toBe(0)
})

test('a deployment changes files and record, restarts the service, and is done when the successor serves', async () => {
  const at = await start()
  const events: unknown[] = []
  const deployer = createDeployer(at.services, async () => {
    const trial = await resumeDeployment(at.services)
    expect(await at.now()).toEqual({ version: '2.0.0', code: 'new', entries: ['.wordy.old', 'wordy'] })
    if (trial) await confirmDeployment(at.services, trial)
  })

  const id = await deployer.begin({ module: 'wordy', before: at.before, files, record: [saveModule(NEW, NOW)] })
  at.hub.subscribe(`deploy:${id}`, {
    deliver: ({ bytes }) => events.push(JSON.parse(bytes.toString()).data.state),
    finish: (last) => events.push(last && JSON.parse(last.bytes.toString()).data.state),
  })
  await deployer.idle()

  expect(await at.now()).toEqual({ version: '2.0.0', code: 'new', entries: ['wordy'] })
  expect(await findDeployment(at.db, id)).toMatchObject({ state: 'done', error: null, finished_at: NOW })
  expect(events).toEqual([...STEPS, 'done'])
})

test.each([
  ['its files cannot be written', unusable, undefined, 'failed', expect.stringContaining('EEXIST')],
  ['the successor does not serve', files, new Error('ended'), 'rolled_back', 'ended'],
] as const)('when %s, the previous files and record are restored', async (_, given, refusal, state, error) => {
  for (const installed of [true, false]) {
    const at = await start({ installed })
    const deployer = createDeployer(at.services, async () => {
      if (refusal) throw refusal
    })

    const id = await deployer.begin({
      module: 'wordy',
      before: at.before,
      files: given,
      record: [saveModule(NEW, NOW)],
    })
    await deployer.idle()

    expect(await findDeployment(at.db, id)).toMatchObject({ state, error, finished_at: NOW })
    expect(await at.now()).toEqual(installed ? AS_BEFORE : NOTHING)
    expect(await findModule(at.db, 'wordy')).toEqual(at.before)
  }
})

test('a deployment is refused while another one is in progress, even of another module', async () => {
  const at = await start()
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const deployer = createDeployer(at.services, () => held)
  const id = await deployer.begin({ module: 'wordy', before: at.before, record: [] })

  await expect(deployer.begin({ module: 'other', before: undefined, record: [] })).rejects.toMatchObject({
    code: 'deployment_busy',
  })

  release()
  await deployer.idle()
  expect(await resumeDeployment(at.services)).toMatchObject({ id })
})

// Each step at which the service may be killed, with the state of the files at that moment.
const KILLS: readonly (readonly [(typeof STEPS)[number], string, (folder: string) => Promise<void>])[] = [
  ['building', 'before anything', async () => {}],
  ['building', 'with half of the files staged', (folder) => writeFiles(folder, { '.wordy.new/backend.mjs': 'ne' })],
  ['replacing', 'before anything moved', (folder) => writeFiles(folder, { '.wordy.new/backend.mjs': 'new' })],
  [
    'replacing',
    'with the old ones put aside',
    async (folder) => {
      await writeFiles(folder, { '.wordy.new/backend.mjs': 'new' })
      if (existsSync(join(folder, 'wordy'))) await rename(join(folder, 'wordy'), join(folder, '.wordy.old'))
    },
  ],
  [
    'replacing',
    'with the new ones in place',
    async (folder) => {
      if (existsSync(join(folder, 'wordy'))) await rename(join(folder, 'wordy'), join(folder, '.wordy.old'))
      await writeFiles(folder, { 'wordy/backend.mjs': 'new' })
    },
  ],
]

test.each(KILLS)('a service killed in %s, %s, rolls the change back at its next start', async (step, _, leave) => {
  for (const installed of [true, false]) {
    const at = await start({ installed })
    const id = await abandoned(at, at.before)
    await at.db.batch([enterStep(id, step, 'killed here')])
    await leave(at.folder)

    expect(await resumeDeployment(at.services)).toBeUndefined()

    expect(await at.now()).toEqual(installed ? AS_BEFORE : NOTHING)
    expect(await findDeployment(at.db, id)).toMatchObject({ state: 'failed', error: expect.stringContaining('arrêté') })
    expect(await resumeDeployment(at.services)).toBeUndefined()
  }
})

async function killedWhileRestarting(at: Started): Promise<string> {
  const id = await abandoned(at, at.before)
  await at.db.batch([saveModule(NEW, NOW), enterStep(id, 'restarting', 'killed here')])
  if (existsSync(join(at.folder, 'wordy'))) await rename(join(at.folder, 'wordy'), join(at.folder, '.wordy.old'))
  await writeFiles(at.folder, { 'wordy/backend.mjs': 'new' })
  return id
}

test('a service killed before a start has tried the module tries it at its next start', async () => {
  const at = await start()
  const id = await killedWhileRestarting(at)

  const trial = await resumeDeployment(at.services)

  expect(trial).toMatchObject({ id, module: 'wordy' })
  if (trial) await confirmDeployment(at.services, trial)
  expect(await at.now()).toEqual({ version: '2.0.0', code: 'new', entries: ['wordy'] })
  expect(await findDeployment(at.db, id)).toMatchObject({ state: 'done' })
})

test('a start that tried the module and did not survive is not repeated', async () => {
  for (const installed of [true, false]) {
    const at = await start({ installed })
    const id = await killedWhileRestarting(at)
    await countTry(at.db, id)

    expect(await resumeDeployment(at.services)).toBeUndefined()

    expect(await at.now()).toEqual(installed ? AS_BEFORE : NOTHING)
    expect(await findDeployment(at.db, id)).toMatchObject({ state: 'rolled_back' })
  }
})

test('a module that cannot be loaded is rolled back by the owner, or by the start if the owner is gone', async () => {
  const at = await start()
  const id = await killedWhileRestarting(at)
  const trial = await resumeDeployment(at.services)
  if (!trial) throw new Error('nothing to try')
  at.gone.clear()

  await expect(failTrial(at.services, trial, 'no endpoint', true)).rejects.toThrow('no endpoint')
  expect(await findDeployment(at.db, id)).toMatchObject({ state: 'restarting' })

  at.gone.add('another')
  await failTrial(at.services, trial, 'no endpoint', false)
  expect(await at.now()).toEqual(AS_BEFORE)
  expect(await findDeployment(at.db, id)).toMatchObject({ state: 'rolled_back', error: 'no endpoint' })
})

test('a start leaves alone a deployment in another folder, and one whose service still runs', async () => {
  const at = await start()
  await abandoned(at, at.before)
  await mkdir(join(at.folder, '.wordy.new'))
  at.gone.clear()

  expect(await resumeDeployment(at.services)).toBeUndefined()
  at.gone.add('another')
  expect(await resumeDeployment({ ...at.services, folder: await temporaryFolder() })).toBeUndefined()

  expect((await at.now()).entries).toEqual(['.wordy.new', 'wordy'])
  expect(await findDeployment(at.db, 'd')).toMatchObject({ state: 'building', finished_at: null })
})

test('a start asks the supervisor of a restart whether to wait, to try the change, or to roll it back', async () => {
  const at = await start()
  const id = await killedWhileRestarting(at)
  at.gone.clear()
  const asked: unknown[] = []
  const resume = (decision: Decision) =>
    resumeDeployment({
      ...at.services,
      supervisor: {
        createdFor: undefined,
        async decide(...about) {
          asked.push(about)
          return decision
        },
        ended: () => new Promise(() => {}),
      },
    })

  expect(await resume('wait')).toBeUndefined()
  expect(await findDeployment(at.db, id)).toMatchObject({ state: 'restarting', tries: 0 })
  expect(await resume('try')).toMatchObject({ id })
  expect(await resume('supervised')).toMatchObject({ id })
  expect((await at.now()).version).toBe('2.0.0')
  expect(await resume({ rollBack: 'it ended' })).toBeUndefined()

  expect(await at.now()).toEqual(AS_BEFORE)
  expect(await findDeployment(at.db, id)).toMatchObject({ state: 'rolled_back', error: 'it ended' })
  expect(asked[0]).toEqual([id, 'another'])
})

test('a start that waits for the helper rolls the change back when the helper fails', async () => {
  const at = await start()
  const id = await killedWhileRestarting(at)
  const decisions: Decision[] = ['wait', { rollBack: 'the helper is gone' }]
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const supervisor = { createdFor: undefined, decide: async () => decisions.shift() ?? 'try', ended: () => ended }

  expect(await resumeDeployment({ ...at.services, supervisor })).toBeUndefined()
  expect(await findDeployment(at.db, id)).toMatchObject({ state: 'restarting' })
  end()

  await expect
    .poll(() => findDeployment(at.db, id))
    .toMatchObject({ state: 'rolled_back', error: 'the helper is gone' })
  expect(await at.now()).toEqual(AS_BEFORE)
})

test('a trial stays in progress until it is confirmed, and blocks the installation of another module', async () => {
  const at = await start()
  const id = await killedWhileRestarting(at)
  const trial = await resumeDeployment(at.services)
  if (!trial) throw new Error('nothing to try')
  const deployer = createDeployer(at.services, async () => {}, trial)
  const other = { module: 'other', before: undefined, record: [] }

  await expect(deployer.begin(other)).rejects.toMatchObject({ code: 'deployment_busy' })

  expect(await findDeployment(at.db, id)).toMatchObject({ state: 'restarting' })
  await confirmDeployment(at.services, trial)
  await deployer.begin(other)
  await deployer.idle()
  expect(await at.now()).toMatchObject({ version: '2.0.0', code: 'new' })
})

test('a start leaves staged and previous files alone while the console installs a module', async () => {
  const at = await start()
  const id = await killedWhileRestarting(at)
  const trial = await resumeDeployment(at.services)
  if (trial) await confirmDeployment(at.services, trial)
  expect(await findDeployment(at.db, id)).toMatchObject({ state: 'done' })
  // Between the two steps of the console: the old files are aside, the new ones not yet in place.
  await rename(join(at.folder, 'wordy'), join(at.folder, '.wordy.old'))
  await writeFiles(at.folder, { '.wordy.new/backend.mjs': 'newer' })

  await resumeDeployment(at.services)

  expect((await at.now()).entries).toEqual(['.wordy.new', '.wordy.old'])
})

test('putting staged files in place fails when they have disappeared', async () => {
  const at = await start()
  const files = moduleFiles(at.folder, 'wordy')
  await files.stage(new Map([['backend.mjs', Buffer.from('new')]]))
  await rm(join(at.folder, '.wordy.new'), { recursive: true })

  await expect(files.replace()).rejects.toThrow('disparu')

  expect(await at.now()).toEqual(AS_BEFORE)
})
