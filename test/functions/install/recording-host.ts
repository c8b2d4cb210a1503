import { once } from 'node:events'
import ssh2 from 'ssh2'
import { onTestFinished } from 'vitest'
import { newHostKey } from '../../../demo/host-key.ts'

/** An SSH server that refuses everybody, and records what it receives. */
export async function startRecordingHost() {
  const shown: { method: string; username: string; password: string | undefined }[] = []
  let connections = 0
  const server = new ssh2.Server({ hostKeys: [newHostKey()] }, (connection) => {
    connections += 1
    connection.on('error', () => {})
    connection.on('authentication', (context) => {
      const password = context.method === 'password' ? context.password : undefined
      shown.push({ method: context.method, username: context.username, password })
      context.reject(['password'])
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address: unknown = server.address()
  return {
    address: `127.0.0.1:${Object(address).port}`,
    /** The data that clients sent, their passwords included. */
    shown,
    connections: () => connections,
  }
}
