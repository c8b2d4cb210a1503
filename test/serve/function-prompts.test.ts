import { expect, onTestFinished, test } from 'vitest'
import { functions, jobKinds, sockets, tasks } from '../../functions/index.ts'
import { createFunctionHost } from '../../serve/function-host.ts'
import { startLibsqlServer } from '../libsql-server.ts'
import { startDemo } from '../runtime/demo.ts'
import { functionEnvironment } from './function-environment.ts'

test('a function host cannot wait for answers: where the host asks more than a password, it says so', async () => {
  const asks = [{ prompt: 'Verification code: ', answer: '123456' }]
  const user = { password: 'pw', groups: ['people'] }
  const demo = await startDemo({ users: { alice: { ...user, uid: 1200, asks }, bob: { ...user, uid: 1201 } } })
  const server = await startLibsqlServer()
  onTestFinished(server.stop)
  const env = { ...functionEnvironment(server.url, demo), PANEL_LOG_LEVEL: 'silent' }
  const { fetch, stop } = createFunctionHost({ functions, jobKinds, sockets, tasks }, env, () => new Date())
  onTestFinished(stop)
  const login = (username: string) => {
    const body = JSON.stringify({ username, password: 'pw' })
    return fetch(new Request('https://panel.test/api/auth/login', { method: 'POST', body }))
  }

  const refused = await login('alice')

  expect(refused.status).toBe(501)
  expect(await refused.json()).toEqual({
    error: 'L’hôte demande plus que le mot de passe, et cet hébergement ne peut pas attendre de réponse.',
    code: 'prompts_impossible',
  })
  expect((await login('bob')).status).toBe(200)
})
