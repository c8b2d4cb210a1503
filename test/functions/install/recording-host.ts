import { once } from 'node:events'
import ssh2 from 'ssh2'
import { onTestFinished } from 'vitest'
import { newHostKey } from '../../../demo/host-key.ts'

/** An SSH server that lets nobody in, and keeps what it is shown. */
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
    /** What clients said of themselves, their passwords among it. */
    shown,
    connections: () => connections,
  }
}
