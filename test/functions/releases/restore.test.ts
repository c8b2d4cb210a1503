import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addDeployment } from '../../../db/deployments.ts'
import { findModule } from '../../../db/modules.ts'
import { answered, audited } from '../answers.ts'
import { typeCommand } from '../console.ts'
import { NOW, record, withModules, writeFiles } from '../modules/module.ts'
import { pageFiles, versionedForge } from './versioned-forge.ts'

const page = (version: string) => pageFiles('notes', version, { 'index.html': version, 'js/page.js': version })

/** A module on record at the first of two commits, as after the restore of a backup. */
async function start(files: Record<string, string> = {}) {
  const on = await versionedForge()
  const first = on.push('notes', page('1.0.0'))
  const second = on.push('notes', page('2.0.0'), { onto: null })
  const repository = `${on.forge.url}/${on.forge.org}/notes`
  const given = { repository, commit: first, tag: 'v1', files: '["index.html","js/page.js"]' }
  const app = await withModules(
    [record('notes', given), record('local', { files: '["index.html"]' }), record('plain')],
    {
      files: { 'local/index.html': 'mine', ...files },
      env: { PANEL_FORGE_URL: on.forge.url, PANEL_FORGE_ORG: on.forge.org },
    },
  )
  const problems = async () => {
    const list = await answered(await app.request('GET', '/api/repair/modules', { as: 'admin' }), 200)
    return Object.fromEntries(Object.values(Object(list)).map((each) => [Object(each).id, Object(each)]))
  }
  return {
    ...app,
    on,
    first,
    second,
    problems,
    type: (...words: string[]) => typeCommand({ ...app.services, secrets: app.secrets }, words),
    text: (name: string) => readFile(join(app.folder, 'notes', name), 'utf8'),
  }
}

test('files of another commit than the one on record are a problem, and the recorded commit is fetched again', async () => {
  const app = await start()
  const theirs = { ...page('2.0.0'), '.release': `${app.second}\n` }
  for (const [name, text] of Object.entries(theirs)) await writeFiles(app.folder, { [`notes/${name}`]: String(text) })
  const before = await findModule(app.db, 'notes')

  expect((await app.problems()).notes).toMatchObject({
    problem: 'files_missing',
    detail: `Ses fichiers sont ceux du commit ${app.second}, pas ceux du commit ${app.first} enregistré.`,
  })
  expect(await app.type('modules', 'restore')).toEqual({
    text: `Module « notes » 1.0.0 : fichiers du commit ${app.first} remis en place.`,
    ok: true,
  })

  expect([await app.text('index.html'), await app.text('js/page.js')]).toEqual(['1.0.0', '1.0.0'])
  expect((await app.text('.release')).trim()).toBe(app.first)
  expect(await findModule(app.db, 'notes')).toEqual(before)
  expect((await app.problems()).notes).toMatchObject({ problem: null, detail: null })
  expect(await audited(app.db)).toMatchObject([
    { action: 'module_installed', target: 'notes', details: { commit: app.first, tag: 'v1' } },
  ])
  expect(await app.type('modules', 'restore')).toEqual({
    text: 'Tous les modules ont les fichiers de leur commit.',
    ok: true,
  })
})

test('a missing file of a page is a problem of its module alone, and is fetched again', async () => {
  const app = await start({ 'notes/index.html': '1.0.0' })
  await rm(join(app.folder, 'local'), { recursive: true })

  expect(await app.problems()).toMatchObject({
    notes: { problem: 'files_missing', detail: 'js/page.js n’existe pas dans le dossier du module' },
    local: { problem: 'files_missing', detail: expect.stringContaining('index.html') },
    plain: { problem: null },
  })
  expect((await app.type('modules', 'restore')).ok).toBe(true)

  expect(await app.text('js/page.js')).toBe('1.0.0')
  expect(await app.problems()).toMatchObject({ notes: { problem: null }, local: { problem: 'files_missing' } })
})

test('what cannot be fetched is reported with its reason, and the files in place stay', async () => {
  const app = await start({ 'notes/index.html': 'old' })
  app.on.forget(app.first)

  expect(await app.type('modules', 'restore')).toEqual({
    text: `notes : La forge n’a plus le commit ${app.first} de ce module.`,
    ok: false,
  })

  expect(await app.text('index.html')).toBe('old')
  expect(await audited(app.db)).toEqual([])
  await expect(app.type('modules', 'restore', 'absent')).rejects.toThrow('il n’y a pas de module')
  await expect(app.type('modules', 'restore', 'local')).rejects.toThrow('ne vient pas de la forge')
})

test('nothing is fetched again from another repository than the one on record', async () => {
  const app = await start({ 'notes/index.html': 'old' })
  const elsewhere = 'https://forge.example/modules/notes'
  await app.db.run('UPDATE modules SET repository = ? WHERE "commit" IS NOT NULL', [elsewhere])

  const { text, ok } = await app.type('modules', 'restore', 'notes')

  expect(ok).toBe(false)
  expect(text).toContain(elsewhere)
  expect(text).toContain(`${app.on.forge.url}/${app.on.forge.org}/notes`)
  expect(await app.text('index.html')).toBe('old')
  expect(await audited(app.db)).toEqual([])
})

test.each([
  ['changed', 'notes : Ce module est déjà en cours de modification.'],
  ['installed', 'notes : une installation de « notes » est en cours.'],
])('a module that is %s while the forge is read keeps its files', async (what, text) => {
  const app = await start({ 'notes/index.html': 'old' })
  const deployment = { id: 'one', module: 'notes', place: 'p', owner: 'o', files_before: true, started_at: NOW }
  const meanwhile = async () => {
    if (what === 'changed') await app.type('modules', 'disable', 'notes')
    else await addDeployment(app.db, { ...deployment, before: await findModule(app.db, 'notes') })
  }
  const answer = app.on.forge.behave
  let done: Promise<unknown> | undefined
  app.on.forge.behave = async (request, response) => {
    if (request.url?.includes('/raw/')) {
      done ??= meanwhile()
      await done
    }
    return (await answer?.(request, response)) ?? false
  }

  expect(await app.type('modules', 'restore')).toEqual({ text, ok: false })

  expect(await app.text('index.html')).toBe('old')
  expect((await audited(app.db)).filter(({ action }) => action === 'module_installed')).toEqual([])
})
