import { expect, test, vi } from 'vitest'
import login from '../../../functions/auth/login.post.ts'
import { saveUser } from '../../../db/users.ts'
import { SshError } from '../../../ssh/connection.ts'
import { START, testApp } from '../../app.ts'
import { audited } from '../answers.ts'

const NOW = START.toISOString()
const NAMES = ['nobody-here', 'bob', 'alice', 'barred', 'enrolled', 'locked', 'uninvited', 'gone', 'kept-out']

/** A panel that knows people of every kind, whose host refuses every password. */
async function panel() {
  const inspected: string[] = []
  const app = await testApp([login], {
    env: { PANEL_SIGN_IN_GROUPS: 'panel', PANEL_REQUIRE_FACTOR: 'admins' },
    fake: {
      signIn() {
        throw new SshError('bad_credentials', 'l’hôte a refusé le mot de passe')
      },
      inspect(username) {
        inspected.push(username)
        return null
      },
    },
  })
  for (const name of NAMES.slice(1)) await saveUser(app.db, name, name === 'alice', NOW)
  await app.db.script(`
    UPDATE users SET barred_at = '${NOW}', barred_by = 'alice' WHERE username = 'barred';
    UPDATE users SET kept_out = 1 WHERE username = 'kept-out';
    INSERT INTO factors (user_id, kind, name, created_at, secret_sealed)
      SELECT id, 'totp', 'app', '${NOW}', 'sealed' FROM users WHERE username IN ('enrolled', 'locked');
    INSERT INTO factor_locks (user_id, kind, answers, last_at, locked_until)
      SELECT id, 'totp', 10, '${NOW}', '2026-03-01T13:00:00.000Z' FROM users WHERE username = 'locked'`)
  return { ...app, inspected }
}

test('with a wrong password, no name is told from another: same answer, same questions to host and database', async () => {
  const app = await panel()
  const { db } = app.services
  const spies = [vi.spyOn(db, 'query'), vi.spyOn(db, 'run'), vi.spyOn(db, 'batch')]
  const seen: unknown[] = []
  // The first request of all prepares what the others find.
  await app.request('POST', login.path, { body: { username: 'first', password: 'wrong' }, from: '203.0.113.200' })
  for (const [n, username] of NAMES.entries()) {
    for (const spy of spies) spy.mockClear()
    const asked = [app.signIns.length, app.inspected.length, app.ran.length]
    const answer = await app.request('POST', login.path, {
      body: { username, password: 'wrong' },
      from: `203.0.113.${n + 1}`,
    })
    const headers = [...answer.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
    seen.push({
      status: answer.status,
      body: await answer.text(),
      headers,
      host: [app.signIns.length, app.inspected.length, app.ran.length].map((count, at) => count - (asked[at] ?? 0)),
      statements: spies.map((spy) => spy.mock.calls.map(([first]) => (typeof first === 'string' ? first : 'several'))),
    })
  }

  expect(seen).toEqual(NAMES.map(() => seen[0]))
  expect(seen[0]).toMatchObject({ status: 401, body: expect.stringContaining('bad_credentials'), host: [1, 0, 0] })
  // A spy that sees nothing would find everything alike.
  expect(JSON.stringify(seen[0])).toContain('INSERT INTO audit')
  const entries = (await audited(app.db)).slice(1)
  expect(entries.map(({ action, user_id, username }) => [action, user_id, username])).toEqual(
    NAMES.map((name) => ['login_failed', null, name]),
  )
})
