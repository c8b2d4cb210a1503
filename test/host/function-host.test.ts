import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../db/libsql/client.ts'
import { findJob } from '../../db/jobs.ts'
import { startLibsqlServer } from '../libsql-server.ts'
import { frozenInstance } from '../serve/frozen-instance.ts'
import { functionClient } from '../serve/function-client.ts'
import { keepHostFile, steps, upTo } from './copies.ts'
import { NO_TEXT, replacePostinst, slowPostinst } from './postinst.ts'
import { type Account, inside, PASSWORDS, rig, SSH_HOST } from './rig.ts'

const LINES = 100

test.for<Account>(['alice', 'ops'])(
  'two instances that are frozen between requests complete an upgrade together, with the service account %s',
  async (account) => {
    await rig('reset')
    await replacePostinst('101', slowPostinst({ lines: LINES, seconds: 0.25, bytes: NO_TEXT }))
    const server = await startLibsqlServer()
    onTestFinished(server.stop)
    const db = await openDatabase(server.url)
    onTestFinished(() => db.close())
    const env = {
      PANEL_DATABASE_URL: server.url,
      PANEL_SECRET_KEY: randomBytes(32).toString('base64'),
      PANEL_SSH_HOST: SSH_HOST,
      PANEL_SSH_USERNAME: account,
      PANEL_SSH_PASSWORD: PASSWORDS[account],
    }
    const [one, other] = [frozenInstance(env, 'gateway'), frozenInstance(env, 'fetch')]
    let asked = one
    const client = functionClient(async () => asked)
    expect((await client.signIn('bob', PASSWORDS.bob)).status).toBe(200)

    const id = await client.start('lxc:101')
    const kept = await keepHostFile(id, server.url)
    const poller = client.poller(id)
    const until = async (lines: number) => {
      while (steps(poller.text()).length < lines && !poller.ended()) {
        await poller.poll()
        await pause(500)
      }
    }
    await until(5)
    await rig('cut')
    await until(10)
    // The first instance's lease lapses here.
    asked = other
    await until(70)
    expect(await findJob(db, id)).toMatchObject({ status: 'running', epoch: 2 })
    while (!poller.ended()) {
      asked = asked === one ? other : one
      await poller.poll()
      await pause(500)
    }

    expect(poller.text()).toBe((await kept()).toString())
    expect(steps(poller.text())).toEqual(upTo(LINES))
    expect(await findJob(db, id)).toMatchObject({ status: 'success', exit_code: 0 })
    expect(await inside('101', `grep -c ' upgrade rig-slow:' /var/log/dpkg.log`)).toBe('1')
  },
)
