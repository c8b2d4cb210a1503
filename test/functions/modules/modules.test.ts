import { expect, test } from 'vitest'
import { answered, audited, auditedActions, refused } from '../answers.ts'
import { NOW, record, saying, withModules } from './module.ts'

const BACKEND = record('wordy', { backend: 'backend.mjs' })
const CORE = ['dashboard', 'updates', 'terminal', 'hypervisor', 'registry', 'settings']

test('the built-in modules are enabled from the start, in menu order, for every signed-in user', async () => {
  const app = await withModules([])

  const list = await answered(await app.request('GET', '/api/modules', { as: 'user' }), 200)

  expect(list).toEqual(
    CORE.map((id, at) =>
      expect.objectContaining({
        id,
        version: '0.0.0-test',
        is_core: 1,
        is_enabled: 1,
        has_backend: false,
        nav_order: (at + 1) * 10,
        repository: null,
        commit: null,
      }),
    ),
  )
  await refused(await app.request('GET', '/api/modules'), 401, 'unauthenticated')
})

test('installed modules follow, sorted by position and name, without details of their files', async () => {
  const nav = { nav_label: 'B', nav_icon: 'star', nav_href: '/b', nav_order: 5 }
  const app = await withModules([record('a'), BACKEND, record('b', nav)])

  const list = await answered(await app.request('GET', '/api/modules', { as: 'user' }), 200)

  expect(list).toMatchObject([...CORE, 'b', 'a', 'wordy'].map((id) => ({ id })))
  expect(list).toContainEqual({
    id: 'b',
    name: 'Le module b',
    description: 'Un module.',
    version: '1.0.0',
    is_core: 0,
    is_enabled: 1,
    has_backend: false,
    ...nav,
    repository: null,
    commit: null,
    tag: null,
    previous: null,
    fault: null,
    fault_at: null,
    installed_at: NOW,
    updated_at: NOW,
  })
  expect(list).toContainEqual(expect.objectContaining({ id: 'wordy', has_backend: true }))
  expect(JSON.stringify(list)).not.toContain('backend.mjs')
})

test('why the service has taken a module out is told to administrators alone', async () => {
  const app = await withModules([record('a')])
  await app.db.run(`UPDATE modules SET fault = 'Son code a échoué : secret', fault_at = ? WHERE id = 'a'`, [NOW])
  const listFor = async (as: 'user' | 'admin') =>
    JSON.stringify(await answered(await app.request('GET', '/api/modules', { as }), 200))

  expect(await listFor('admin')).toContain('secret')
  expect(await listFor('user')).not.toContain('secret')
})

test('a module without code is disabled and enabled at once; repeating that changes nothing', async () => {
  const app = await withModules([record('a')])
  const enabled = async () => {
    const list = await answered(await app.request('GET', '/api/modules', { as: 'user' }), 200)
    return Array.isArray(list) && list.find(({ id }) => id === 'a')?.is_enabled
  }

  for (let twice = 0; twice < 2; twice += 1)
    expect(await answered(await app.request('POST', '/api/modules/a/disable', { as: 'admin' }), 200)).toEqual({
      message: 'Module « Le module a » désactivé.',
      restart: false,
      deployment: null,
    })
  expect(await enabled()).toBe(0)
  for (let twice = 0; twice < 2; twice += 1)
    expect(await answered(await app.request('POST', '/api/modules/a/enable', { as: 'admin' }), 200)).toEqual({
      message: 'Module « Le module a » activé.',
      restart: false,
      deployment: null,
    })
  expect(await enabled()).toBe(1)
  expect(await audited(app.db)).toMatchObject([
    { action: 'module_disabled', username: 'alice', target: 'a' },
    { action: 'module_enabled', username: 'alice', target: 'a' },
  ])
})

test('an endpoint of a module answers while the module is enabled, and is an unknown address otherwise', async () => {
  const app = await withModules([BACKEND], { files: { 'wordy/backend.mjs': saying('wordy', 'bonjour') } })
  const word = () => app.request('GET', '/api/modules/wordy/word', { as: 'user' })

  expect(await answered(await word(), 200)).toEqual({ word: 'bonjour' })
  await refused(await app.request('GET', '/api/modules/wordy/word'), 401, 'unauthenticated')

  await answered(await app.request('POST', '/api/modules/wordy/disable', { as: 'admin' }), 200)
  await refused(await word(), 404, 'not_found')

  const again = await app.request('POST', '/api/modules/wordy/enable', { as: 'admin' })
  expect(await answered(again, 200)).toMatchObject({ restart: false })
  expect(await answered(await word(), 200)).toEqual({ word: 'bonjour' })
})

test('a handler of a module gets the role of its user, and isAdmin as in version 0.1', async () => {
  const code = saying('wordy', 'x').replace(
    "() => ({ word: 'x' })",
    "(_, { user }) => ({ word: [user.role, user.isAdmin, user.username].join(' ') })",
  )
  const app = await withModules([BACKEND], { files: { 'wordy/backend.mjs': code } })
  const ask = async (as: 'user' | 'admin') => answered(await app.request('GET', '/api/modules/wordy/word', { as }), 200)

  expect(await ask('user')).toEqual({ word: 'operator false bob' })
  expect(await ask('admin')).toEqual({ word: 'admin true alice' })
})

test('a module whose code is not loaded cannot be enabled without a restart, and stays as it was', async () => {
  const app = await withModules([BACKEND])
  await answered(await app.request('POST', '/api/modules/wordy/disable', { as: 'admin' }), 200)

  const { error } = await refused(
    await app.request('POST', '/api/modules/wordy/enable', { as: 'admin' }),
    503,
    'deployer_missing',
  )

  expect(error).toContain('« ops-panel modules »')
  const list = await answered(await app.request('GET', '/api/modules', { as: 'user' }), 200)
  expect(list).toContainEqual(expect.objectContaining({ id: 'wordy', is_enabled: 0 }))
  expect(await auditedActions(app.db)).toEqual(['module_disabled'])
})

test.each(['enable', 'disable'])(
  '%s: refused for built-in modules, unknown modules and ordinary users',
  async (verb) => {
    const app = await withModules([record('a')])
    const path = (id: string) => `/api/modules/${id}/${verb}`

    await refused(await app.request('POST', path('terminal'), { as: 'admin' }), 409, 'core_module')
    await refused(await app.request('POST', path('absent'), { as: 'admin' }), 404, 'module_missing')
    await refused(await app.request('POST', path('%00'), { as: 'admin' }), 404, 'module_missing')
    await refused(await app.request('POST', path('a'), { as: 'user' }), 403, 'forbidden')
    await refused(await app.request('POST', path('a')), 401, 'unauthenticated')
    expect(await auditedActions(app.db)).toEqual([])
  },
)
