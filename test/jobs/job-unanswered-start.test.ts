import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { DemoHost } from '../../demo/host.ts'
import { startDemo } from '../runtime/demo.ts'
import { beforeScript, jobService, starts } from './job-service.ts'
import { controlledOutput } from '../runtime/upgrade-output.ts'

/** A network in front of the host that can lose the host's answers, and then go down for a while. */
async function networkBefore(demo: DemoHost) {
  const sockets = new Set<Socket>()
  let mute = false
  let gone = false
  const server = createServer((client) => {
    if (gone) return void client.destroy()
    const host = connect(demo.port, '127.0.0.1')
    for (const socket of [client, host]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    client.pipe(host)
    host.on('data', (data) => {
      if (!mute) client.write(data)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    server.close()
    cut()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    host: `127.0.0.1:${address.port}`,
    loseAnswers() {
      mute = true
    },
    go() {
      gone = true
      cut()
    },
    comeBack() {
      mute = false
      gone = false
    },
  }
}

test('a host that starts a job and becomes unreachable before it answers is asked again until it answers', async () => {
  const demo = await startDemo()
  const network = await networkBefore(demo)
  const output = controlledOutput(demo)
  const { jobs, start, row, ended, output: stored, lines } = await jobService(demo, { ssh: { host: network.host } })
  const asked = beforeScript(demo, 'start', (times) => {
    if (times > 0) return undefined
    // The host's answer to the request is still on its way.
    network.loseAnswers()
    setImmediate(network.go)
    return undefined
  })

  const id = await start(jobs, 'lxc:101')
  await expect
    .poll(() => lines().some((line) => line.includes('the host is not reached')), { timeout: 8_000 })
    .toBe(true)
  expect(await row(id)).toMatchObject({ status: 'running' })
  network.comeBack()
  output.print('une seule fois\n')
  output.end()

  expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0, error: null })
  expect(await stored(id)).toBe('une seule fois\n')
  expect(asked()).toBe(2)
  expect(starts(demo)).toHaveLength(2)
})
