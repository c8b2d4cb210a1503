import { AUDIT_ACTIONS, ERRORS } from '../../../functions/services.ts'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CommandError } from '../../../runtime/command.ts'
import { findModule, takeOutModule } from '../../../db/modules.ts'
import { startModules } from '../../../modules/modules.ts'
import { mount } from '../../app.ts'
import { answered, audited } from '../answers.ts'
import { typeCommand } from '../console.ts'
import { record, saying, temporaryFolder, withModules, writeFiles } from './module.ts'

async function start(...modules: Parameters<typeof withModules>) {
  const app = await withModules(...modules)
  return {
    ...app,
    type: async (...words: string[]) => (await typeCommand({ ...app.services, secrets: app.secrets }, words)).text,
  }
}

/** A folder with a module's repository. */
async function repository(descriptor: object, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await temporaryFolder()
  await writeFiles(folder, { 'module.json': JSON.stringify(descriptor), ...files })
  return folder
}

const WORDY = { id: 'wordy', name: 'Des mots', version: '2.1.0', has_backend: true }

test('what the panel could not serve or load is not installed from a folder', async () => {
  const app = await start([])
  const most = 5 * 1024 * 1024
  const page = { id: 'wide', name: 'Large', version: '1', page: { files: ['a.html', 'b.js', 'c.js'] } }
  const files = (bytes: number) => Object.fromEntries(page.page.files.map((name) => [name, 'x'.repeat(bytes)]))

  for (const [folder, reason] of [
    [await repository(WORDY, { 'backend.mjs': ' '.repeat(most + 1) }), 'dépasse 5 Mio'],
    [await repository(page, { ...files(1), 'b.js': ' '.repeat(most + 1) }), 'dépasse 5 Mio'],
    [await repository(page, files(most - 1)), 'les fichiers de la page dépassent 10 Mio ensemble'],
    [await repository({ ...page, more: ' '.repeat(64 * 1024) }, files(1)), 'dépasse 64 Kio'],
  ] as const)
    await expect(app.type('modules', 'install', folder)).rejects.toThrow(reason)

  expect(await app.type('modules', 'list')).toBe('Aucun module n’est installé.')
  expect(await audited(app.db)).toEqual([])
})

test('a folder with links or without plain files is not installed', async () => {
  const app = await start([])
  const page = { id: 'leaky', name: 'Fuite', version: '1', page: { files: ['index.html', 'web/x.txt'] } }
  const folder = await repository(page, { 'index.html': 'x', '.git/x.txt': 'url = https://user:token@forge' })
  const install = () => app.type('modules', 'install', folder)

  await symlink('.git', join(folder, 'web'))
  await expect(install()).rejects.toThrow('web/x.txt est derrière un lien symbolique')
  await rm(join(folder, 'web'))
  await mkdir(join(folder, 'web'))
  await symlink('../.git/x.txt', join(folder, 'web/x.txt'))
  await expect(install()).rejects.toThrow('web/x.txt est un lien symbolique')
  await rm(join(folder, 'web/x.txt'))
  execFileSync('mkfifo', [join(folder, 'web/x.txt')])
  await expect(install()).rejects.toThrow('web/x.txt n’est pas un fichier')
  expect(existsSync(join(app.folder, 'leaky'))).toBe(false)
})

test('a module is installed from a folder, and its code loads at the next start', async () => {
  const app = await start([])
  const folder = await repository(WORDY, { 'backend.mjs': saying('wordy', 'bonjour'), 'other.txt': 'x' })

  expect(await app.type('modules', 'install', folder)).toBe(
    'Module « Des mots » 2.1.0 installé. Redémarrez le service pour qu’il charge son code.',
  )

  expect(await readFile(join(app.folder, 'wordy/backend.mjs'), 'utf8')).toBe(saying('wordy', 'bonjour'))
  expect(existsSync(join(app.folder, 'wordy/other.txt'))).toBe(false)
  expect(await app.type('modules', 'list')).toBe('wordy  activé     2.1.0  avec du code')
  const again = await startModules({
    db: app.db,
    folder: app.folder,
    log: app.services.log,
    known: { errors: ERRORS, actions: AUDIT_ACTIONS },
  })
  const services = { ...app.services, modules: again }
  const headers = { authorization: `Bearer ${await app.tokenFor('user')}` }
  const response = await mount([], services).request('/api/modules/wordy/word', { headers })
  expect(await answered(response, 200)).toEqual({ word: 'bonjour' })
  expect(await audited(app.db)).toMatchObject([
    {
      action: 'module_installed',
      username: 'operator',
      ip: 'console',
      target: 'wordy',
      details: { version: '2.1.0', folder },
    },
  ])
})

test('the list says of a module that was taken out that it was, and why', async () => {
  const at = '2026-01-01T00:00:00.000Z'
  const app = await start([record('bad', { backend: 'backend.mjs' }), record('good')])
  const updated_at = (await findModule(app.db, 'bad'))?.updated_at ?? ''
  await app.db.batch([takeOutModule({ id: 'bad', updated_at }, 'Son code a arrêté\nle service (backend.mjs:3).', at)])

  expect((await app.type('modules', 'list')).split('\n')).toEqual([
    'bad   à l’écart  1.0.0  avec du code',
    '      Son code a arrêté\\u{a}le service (backend.mjs:3).',
    'good  activé     1.0.0',
  ])

  await app.type('modules', 'disable', 'bad')
  expect((await app.type('modules', 'list')).split('\n')[0]).toBe('bad   désactivé  1.0.0  avec du code')
})

test('a newer version replaces the files, and a disabled module stays disabled', async () => {
  const app = await start([])
  await app.type('modules', 'install', await repository(WORDY, { 'backend.mjs': saying('wordy', 'one') }))
  await app.type('modules', 'disable', 'wordy')

  const newer = { ...WORDY, version: '3.0.0', backend: 'src/main.mjs' }
  await app.type('modules', 'install', await repository(newer, { 'src/main.mjs': saying('wordy', 'two') }))

  expect(await app.type('modules', 'list')).toBe('wordy  désactivé  3.0.0  avec du code')
  expect(existsSync(join(app.folder, 'wordy/backend.mjs'))).toBe(false)
  expect(existsSync(join(app.folder, 'wordy/src/main.mjs'))).toBe(true)
})

test.each([
  [{ id: 'Wordy', name: 'x', version: '1' }, {}, 'id :'],
  [{ id: 'wordy', name: 'x', version: '1', nav: { label: 'x', href: 'javascript:alert(1)' } }, {}, 'nav.href :'],
  [{ id: 'wordy', name: 'x', version: '1', has_backend: true, backend: '../x.mjs' }, {}, 'backend :'],
  [WORDY, {}, 'backend.mjs n’existe pas'],
  [{ id: 'terminal', name: 'x', version: '1' }, {}, 'est le nom d’un module du panneau'],
])('%j is refused, and nothing of it remains', async (descriptor, files, reason) => {
  const app = await start([])

  const typed = app.type('modules', 'install', await repository(descriptor, files))

  await expect(typed).rejects.toThrow(CommandError)
  await expect(typed).rejects.toThrow(reason)
  expect(await app.type('modules', 'list')).toBe('Aucun module n’est installé.')
  expect(existsSync(join(app.folder, 'wordy'))).toBe(false)
  expect(await audited(app.db)).toEqual([])
})

test('a file that leads out of the folder is not installed', async () => {
  const app = await start([])
  const folder = await repository({ ...WORDY, page: { files: ['page.html'] } }, { 'backend.mjs': saying('wordy', 'x') })
  await symlink('/etc/hostname', join(folder, 'page.html'))

  await expect(app.type('modules', 'install', folder)).rejects.toThrow('page.html est un lien symbolique')
  expect(existsSync(join(app.folder, 'wordy'))).toBe(false)
})

test('a folder without a module.json is refused by name', async () => {
  const app = await start([])

  await expect(app.type('modules', 'install', await temporaryFolder())).rejects.toThrow('module.json n’existe pas')
})

test('enable, disable and remove report the result and the next step', async () => {
  const app = await start([record('plain'), record('wordy', { backend: 'backend.mjs' })], {
    files: { 'wordy/backend.mjs': saying('wordy', 'x') },
  })

  expect(await app.type('modules', 'disable', 'wordy')).toBe('Module « wordy » désactivé.')
  expect(await app.type('modules', 'disable', 'wordy')).toBe('Le module « wordy » est déjà désactivé.')
  expect(await app.type('modules', 'enable', 'wordy')).toBe(
    'Module « wordy » activé. Redémarrez le service pour qu’il charge son code.',
  )
  expect(await app.type('modules', 'disable', 'plain')).toBe('Module « plain » désactivé.')
  expect(await app.type('modules', 'enable', 'plain')).toBe('Module « plain » activé.')
  expect(await app.type('modules', 'remove', 'wordy')).toBe('Module « wordy » supprimé.')
  expect(existsSync(join(app.folder, 'wordy'))).toBe(false)
  expect((await audited(app.db)).map(({ action, target }) => `${action} ${target}`)).toEqual([
    'module_disabled wordy',
    'module_enabled wordy',
    'module_disabled plain',
    'module_enabled plain',
    'module_removed wordy',
  ])
})

test.each(['enable', 'disable', 'remove'])('%s refuses built-in and unknown modules', async (verb) => {
  const app = await start([])

  await expect(app.type('modules', verb, 'terminal')).rejects.toThrow('« terminal » fait partie du panneau')
  await expect(app.type('modules', verb, 'absent')).rejects.toThrow('il n’y a pas de module « absent »')
  expect(await audited(app.db)).toEqual([])
})
