import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../db/folder.ts'
import { freePort } from '../free-port.ts'
import { startDemo } from '../runtime/demo.ts'
import { runProgram } from '../serve/program.ts'
import { startService } from '../serve/service.ts'
import { selfSigned } from '../spec/certificate.ts'

async function healthOf(env: Record<string, string>) {
  const data = await temporaryFolder()
  const asked = await runProgram({ PANEL_DATA_DIR: join(data, 'none'), ...env }, 'health')
  return { ...asked, answer: asked.code === 0 ? JSON.parse(asked.stdout) : undefined }
}

test.each(['127.0.0.1', '0.0.0.0', '::1', '::', 'localhost'])(
  'prints the answer of the service that listens on %s, and needs no data',
  async (host) => {
    const { url } = await startService(await startDemo(), { PANEL_HOST: host })
    const { port } = new URL(url)

    const { code, answer, stderr } = await healthOf({ PANEL_HOST: host, PANEL_PORT: port })

    expect({ code, answer, stderr }).toEqual({
      code: 0,
      answer: expect.objectContaining({ status: 'ok', boot_id: expect.any(String) }),
      stderr: '',
    })
  },
)

test('connects by TLS where the service has a certificate, whatever its name', async () => {
  const folder = await temporaryFolder()
  const { cert, key } = selfSigned('panel.example')
  const tls = { PANEL_TLS_CERT: join(folder, 'cert.pem'), PANEL_TLS_KEY: join(folder, 'key.pem') }
  await writeFile(tls.PANEL_TLS_CERT, cert)
  await writeFile(tls.PANEL_TLS_KEY, key)
  const { url } = await startService(await startDemo(), tls)
  const { port, protocol } = new URL(url)

  const { code, answer } = await healthOf({ ...tls, PANEL_PORT: port })

  expect({ protocol, code, answer }).toMatchObject({ protocol: 'https:', code: 0, answer: { status: 'ok' } })
  expect(await healthOf({ PANEL_PORT: port })).toMatchObject({ code: 1 })
})

test('exits with 1 and a message when nothing answers', async () => {
  const port = String(await freePort())

  const { code, stdout, stderr } = await healthOf({ PANEL_PORT: port })

  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(new RegExp(`^ops-panel : le service ne répond pas \\(.*ECONNREFUSED.*:${port}\\)\\.\\n$`))
})

test('exits with 1 and the answer when the service is degraded', async () => {
  const said = JSON.stringify({ status: 'degraded' })
  const server = createServer((_, response) => response.writeHead(503).end(said))
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())

  expect(await healthOf({ PANEL_PORT: String(port) })).toMatchObject({ code: 1, stdout: `${said}\n` })
})
