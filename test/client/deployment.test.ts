import { expect, test } from 'vitest'
import type { DeploymentEvent } from '../../client/index.ts'
import { openDatabase } from '../../db/libsql/client.ts'
import { addDeployment, endDeployment, enterStep } from '../../db/deployments.ts'
import { NOW } from '../db/database.ts'
import { signedIn } from './signed-in.ts'

const ID = '0b9c3f6e-6f0a-4a49-9f50-6f6f2b1f5a31'

test.each([[{}], [{ WebSocket: false as const }]])(
  'follow yields a deployment to its end, over a socket or by polling: %j',
  { timeout: 30_000 },
  async (options) => {
    const { service, proxy, panel } = await signedIn(options)
    const db = await openDatabase(`file:${service.folder}/panel.db`)
    const begun = { id: ID, module: 'hello', place: 'elsewhere', owner: 'nobody', before: undefined }
    await addDeployment(db, { ...begun, files_before: false, started_at: NOW })
    await db.batch([enterStep(ID, 'restarting', 'Le service redémarre.')])
    const events: DeploymentEvent[] = []
    const run = async () => {
      for await (const event of panel.follow(`deploy:${ID}`)) events.push(event)
    }
    const ended = run()
    await expect.poll(() => events.length).toBe(1)

    // Another instance ends the deployment without notice, so only a poll or a new connection shows the end.
    await db.batch([endDeployment(ID, 'done', 'Fini.', null, NOW)])
    await db.close()
    proxy.cutNow('GET /ws/')
    await ended

    expect(events.map(({ data }) => data.state)).toEqual(['restarting', 'done'])
    expect(events.at(-1)).toMatchObject({
      type: 'deployment',
      topic: `deploy:${ID}`,
      data: { log: ['Le service redémarre.', 'Fini.'] },
    })
  },
)
