import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { findModule, removeModule } from '../../../db/modules.ts'
import { confirmDeployment, resumeDeployment } from '../../../modules/deploy/deployment.ts'
import { moduleFiles } from '../../../modules/folder.ts'
import { createHub } from '../../../platform/hub.ts'
import { createLog } from '../../../platform/log.ts'
import { NOW, openMigrated } from '../../db/database.ts'
import { temporaryFolder } from '../../db/folder.ts'

/** Each test starts some thirty processes, on a machine that may be busy. */
const LONG = 120_000
const CHILD = join(import.meta.dirname, 'killed-change.ts')

/** The files of a version: each holds the version's name. The third version has another page than the others. */
const filesOf = (version: string, hasCode: boolean) => ({
  ...(hasCode && { 'backend.mjs': version }),
  'page/index.html': version,
  [`page/${version === '3' ? 'other' : 'page'}.js`]: version,
})

async function place(hasCode: boolean) {
  const above = await temporaryFolder()
  const [database, folder] = [`file:${above}/panel.db`, `${above}/modules`]
  const db = await openMigrated(database)
  let runs = 0
  return {
    db,
    folder,
    /** Makes a change in a process that is killed before a step. Returns the number of steps, or undefined. */
    change: (version: string, killAt = 0) =>
      new Promise<number | undefined>((resolve, reject) => {
        runs += 1
        const [files, backend] = [filesOf(version, hasCode), hasCode ? 'backend.mjs' : null]
        const asked = { database, folder, owner: `service-${runs}`, version, files, backend, killAt }
        execFile(process.execPath, [CHILD, JSON.stringify(asked)], (error, stdout, stderr) => {
          if (!error) resolve(Number(stdout))
          else if (error.signal === 'SIGKILL') resolve(undefined)
          else reject(new Error(stderr))
        })
      }),
    /** The next start of the service, when no earlier one runs; its trial serves. */
    async next() {
      const instance = { id: 'next', isGone: async () => true, runs: async () => false }
      const { log } = createLog({ level: 'silent', write: () => {} })
      const services = { db, folder, instance, hub: createHub(), clock: () => new Date(NOW), log }
      const trial = await resumeDeployment(services)
      if (trial) await confirmDeployment(services, trial)
    },
    async remove() {
      await db.batch([removeModule('wordy')])
      await moduleFiles(folder, 'wordy').remove()
    },
    /** The version on record, after a check that the files are those of it and nothing else is there. */
    async version() {
      const found = await findModule(db, 'wordy')
      const there = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
      const texts = there.flatMap((each) => (each.isFile() ? [join(each.parentPath, each.name)] : []))
      const now = Object.fromEntries(
        await Promise.all(
          texts.map(async (path) => [path.slice(folder.length + 1), (await readFile(path, 'utf8')).trim()] as const),
        ),
      )
      delete now['.place']
      const expected = found ? { ...filesOf(found.version, hasCode), '.release': found.version } : {}
      expect(now).toEqual(Object.fromEntries(Object.entries(expected).map(([name, text]) => [`wordy/${name}`, text])))
      const open = await db.query(z.unknown(), 'SELECT 1 FROM deployments WHERE finished_at IS NULL')
      expect(open).toEqual([])
      return found?.version
    },
  }
}

/** The versions that lead to the state before each change, and the version of the change. */
const CHANGES = [
  ['the installation', true, [], '1'],
  ['the update', true, ['1'], '3'],
  ['the return', true, ['1', '3'], '1'],
  ['the update of a page without code', false, ['1'], '3'],
] as const

test.each(CHANGES)(
  'a service killed before any step of %s has the old or the new version after its next start, never both',
  { timeout: LONG },
  async (name, hasCode, before, version) => {
    const at = await place(hasCode)
    onTestFinished(() => at.db.close())
    for (const each of before) await at.change(each)
    const old = await at.version()
    expect(old).toBe(before.at(-1))
    const ends: (string | undefined)[] = []

    for (let killAt = 1; ; killAt += 1) {
      const steps = await at.change(version, killAt)
      if (steps !== undefined) {
        // The last process came to its end.
        expect(steps).toBe(killAt - 1)
        break
      }
      await at.next()
      ends.push(await at.version())
      // The next process begins where this one did.
      if (ends.at(-1) !== old) {
        if (old === undefined) await at.remove()
        else await at.change(old)
      }
    }

    console.log(`${name}: killed before ${ends.length} steps, ended as ${ends.map((end) => end ?? '-').join(' ')}`)
    expect(ends.length).toBeGreaterThanOrEqual(13)
    expect(new Set(ends)).toEqual(new Set([old, version]))
    expect(await at.version()).toBe(version)
  },
)
