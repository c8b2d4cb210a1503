import { once } from 'node:events'
import { createServer } from 'node:http'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { testHypervisor } from '../../hypervisor.ts'
import { answered, audited, refused } from '../answers.ts'
import { hypervisorApp } from './app.ts'

const OTHER = Array.from({ length: 32 }, () => 'AB').join(':')

test('an untrusted certificate is refused, with its fingerprint, before the token is sent', async () => {
  const hypervisor = await testHypervisor()
  const app = await hypervisorApp(hypervisor, { hypervisor_fingerprint: '' })

  const { error } = await refused(await app.list(), 502, 'hypervisor_certificate')

  expect(error).toContain(hypervisor.fingerprint)
  expect(error).toContain('hypervisor_fingerprint')
  expect(hypervisor.connections()).toBe(1)
  expect([hypervisor.requests, hypervisor.authorizations]).toEqual([[], []])
})

test('a trusted certificate is accepted, in any notation of its fingerprint', async () => {
  const hypervisor = await testHypervisor()
  const app = await hypervisorApp(hypervisor, { hypervisor_fingerprint: '' })
  const { error } = await refused(await app.list(), 502, 'hypervisor_certificate')
  const [seen = ''] = /(?:[0-9A-F]{2}:){31}[0-9A-F]{2}/.exec(error) ?? []

  await app.services.settings.change({ hypervisor_fingerprint: seen.toLowerCase() })

  expect(await answered(await app.list(), 200)).toHaveLength(3)
})

test('another certificate than the agreed one is refused before the token is sent, for reads and actions', async () => {
  const hypervisor = await testHypervisor()
  const app = await hypervisorApp(hypervisor, { hypervisor_fingerprint: OTHER })

  for (const response of [await app.list(), await app.act(101, 'stop')]) {
    const { error } = await refused(response, 502, 'hypervisor_certificate')
    expect(error).toContain(hypervisor.fingerprint)
    expect(error).not.toContain(OTHER)
  }

  expect(hypervisor.connections()).toBe(2)
  expect([hypervisor.requests, hypervisor.authorizations]).toEqual([[], []])
  expect(await audited(app.db)).toMatchObject([{ action: 'container_stop', target: 'lxc:101' }])
  await expect.poll(() => hypervisor.open()).toBe(0)
})

test('a changed certificate is refused from then on', async () => {
  const [before, after] = [await testHypervisor(), await testHypervisor()]
  const app = await hypervisorApp(before)
  await answered(await app.list(), 200)

  await app.services.settings.change({ hypervisor_url: after.url })

  await refused(await app.list(), 502, 'hypervisor_certificate')
  expect(after.authorizations).toEqual([])
})

test('a certificate of an authority is accepted without confirmation for its own address', async () => {
  const hypervisor = await testHypervisor()
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, hypervisor.certificate])
  onTestFinished(() => setDefaultCACertificates(before))
  const app = await hypervisorApp(hypervisor, { hypervisor_fingerprint: '' })
  // Its numeric address counts as another address.
  await refused(await app.list(), 502, 'hypervisor_certificate')
  expect(hypervisor.authorizations).toEqual([])

  await app.services.settings.change({ hypervisor_url: hypervisor.url.replace('127.0.0.1', 'localhost') })

  expect(await answered(await app.list(), 200)).toHaveLength(3)
})

test('with a trusted certificate, an address without TLS is refused before the token is sent', async () => {
  const hypervisor = await testHypervisor()
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.headers.authorization ?? '')
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const app = await hypervisorApp(hypervisor, { hypervisor_fingerprint: OTHER })
  await app.services.settings.change({ hypervisor_url: `http://127.0.0.1:${Object(server.address()).port}` })

  await refused(await app.list(), 502, 'hypervisor_in_clear')

  expect(asked).toEqual([])
})
