import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { Random } from './random.ts'

/** A proxy between the clients and the service that imitates a bad network. */
export interface CuttingProxy {
  url: string
  /** Cuts every connection. */
  cut(): void
  /** Stops passing data on, without notice, until it is called with false. */
  stall(on: boolean): void
  /** Number of connections that it has cut. */
  cuts(): number
  stop(): Promise<void>
}

/** The share of connections that the proxy cuts after a random number of bytes to the client, even inside a frame. */
const CUT_SHARE = 0.15
const LEAST_BYTES = 100
const MOST_BYTES = 200_000

export async function startCuttingProxy(port: number, random: Random): Promise<CuttingProxy> {
  const pairs = new Set<readonly [client: Socket, service: Socket]>()
  let stalled = false
  let cuts = 0

  const server = createServer({ noDelay: true }, (client) => {
    const service = connect({ port, host: '127.0.0.1', noDelay: true })
    const pair = [client, service] as const
    pairs.add(pair)
    // Logarithmic, so that small and large numbers of bytes are equally frequent.
    const budget = LEAST_BYTES * (MOST_BYTES / LEAST_BYTES) ** random.next()
    let left = random.chance(CUT_SHARE) ? Math.floor(budget) : Number.POSITIVE_INFINITY
    const end = () => {
      client.destroy()
      service.destroy()
    }
    const pass = (from: Socket, to: Socket) => {
      from.on('data', (data: Buffer) => {
        if (from === service && data.length > left) {
          cuts += 1
          to.write(data.subarray(0, left), end)
          from.pause()
          return
        }
        if (from === service) left -= data.length
        if (to.write(data) || stalled) return
        from.pause()
        to.once('drain', () => {
          if (!stalled) from.resume()
        })
      })
      from.on('end', () => to.end())
      from.on('error', end)
      from.on('close', () => {
        // After an end, the last data may still be on their way.
        if (!from.readableEnded) end()
        if (to.destroyed) pairs.delete(pair)
      })
    }
    pass(client, service)
    pass(service, client)
    if (stalled) for (const socket of pair) socket.pause()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')

  const cut = () => {
    for (const [client, service] of pairs) {
      cuts += 1
      client.resetAndDestroy()
      service.resetAndDestroy()
    }
  }
  return {
    url: `http://127.0.0.1:${address.port}`,
    cut,
    stall(on) {
      stalled = on
      for (const socket of [...pairs].flat()) {
        if (on) socket.pause()
        else socket.resume()
      }
    },
    cuts: () => cuts,
    async stop() {
      if (!server.listening) return
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}
