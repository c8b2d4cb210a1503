import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { connectEngine } from '../../runtime/docker-engine.ts'

export const IMAGE = 'ops-panel:test'

/** Gives the engine an image of the service, of the files that run.sh has laid out. */
export async function setup(): Promise<void> {
  const engine = await connectEngine(process.env.TEST_DOCKER_SOCKET ?? '')
  const [repo, tag] = IMAGE.split(':')
  const tar = spawn('tar', ['-C', `${process.env.TEST_DOCKER_DATA}/root`, '-c', '.'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const changes = ['ENTRYPOINT ["/node", "/app/ops-panel.mjs"]', 'ENV HOME=/root PATH=/']
  const said = await engine.importImage(tar.stdout, { repo, tag, changes })
  await text(said)
  if (tar.exitCode === null) await once(tar, 'exit')
  await engine.getImage(IMAGE).inspect()
}
