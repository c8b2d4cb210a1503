import { expect, test } from 'vitest'
import { moduleIcon, PATHS } from '../../panel/parts/module-icons.ts'
import { ICONS } from '../../functions/authors/icons.ts'
import { answered, audited, refused } from '../functions/answers.ts'
import { appWithModules } from './kit-app.ts'

const endpoint = (path: string, more: string) => `defineFunction({
  method: 'POST', path: '/api/modules/notes/${path}', auth: 'user', targets: 'none', rateLimit: false,
  audit: ['module_action'], errors: ['module_refused', 'module_entry_missing'], response: z.object({}), ${more} }),`

const MODULE = `export default ({ z, defineFunction }) => [
  ${endpoint(
    'clear',
    `async handler(_, { audit }) {
      await audit('module_action', { target: 'all notes', details: { text: 'cleared ' + 'x'.repeat(600), other: 1 } })
      return {}
    }`,
  )}
  ${endpoint('refuse', `handler(_, { fail }) { throw fail('module_refused', { values: { message: 'At most 2 notes.' } }) }`)}
  ${endpoint('hole', `handler(_, { fail }) { throw fail('module_refused') }`)}
  ${endpoint('gone', `handler(_, { fail }) { throw fail('module_entry_missing') }`)}
]`

test('a module audits an action of its own, under its own name and within bounds', async () => {
  const app = await appWithModules({ notes: MODULE })
  await answered(await app.request('POST', '/api/modules/notes/clear', { as: 'user' }), 200)

  const [entry] = await audited(app.db)
  expect(entry).toMatchObject({ action: 'module_action', username: 'bob', target: 'notes' })
  expect(entry?.details).toEqual({ object: 'all notes', text: `cleared ${'x'.repeat(492)}` })
})

test('a module refuses with words of its own, and says that an entry is missing', async () => {
  const app = await appWithModules({ notes: MODULE })
  const post = (path: string) => app.request('POST', `/api/modules/notes/${path}`, { as: 'user' })

  expect(await refused(await post('refuse'), 409, 'module_refused')).toMatchObject({
    error: 'Le module refuse : At most 2 notes.',
  })
  await refused(await post('gone'), 404, 'module_entry_missing')
  expect(app.lines().join()).not.toContain('lacks values')
  await refused(await post('hole'), 409, 'module_refused')
  expect(app.lines().join()).toContain('an error lacks values of its sentence')
})

test('the icons that authors may name are those of the panel', () => {
  expect(Object.keys(PATHS)).toEqual(ICONS)
  expect(moduleIcon('server')).not.toEqual(moduleIcon('sever'))
})
