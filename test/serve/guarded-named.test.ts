import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../db/folder.ts'
import { testForge } from '../forge.ts'
import { freePort } from '../free-port.ts'
import { repository, saying } from '../functions/modules/module.ts'
import { auditOf, BACK_MS, startGuarded } from './guarded.ts'
import { childrenOf, startReplaceable } from './replaceable.ts'

const LONG = 240_000

/** Blocks the import of a module by a system call once this file exists: its check before the installation passes. */
const blockingImport = (id: string, marker: string) =>
  `if (process.getBuiltinModule('node:fs').existsSync(${JSON.stringify(marker)}))
    process.getBuiltinModule('node:child_process').execSync('sleep 600')
  ${saying(id, 'x')}`

/** Takes minutes to refuse a text of some letters. */
const SLOW = 'z.string().regex(/^(a+)+$/)'
const LETTERS = `${'a'.repeat(40)}!`

/** The process of the service ends without notice; the owner of the port starts another one. */
async function killWorker({ pid }: { pid: number }): Promise<void> {
  await expect.poll(() => childrenOf(pid), { timeout: 40_000 }).toHaveLength(1)
  const [worker = 0] = await childrenOf(pid)
  process.kill(worker, 'SIGKILL')
}

test(
  'a module whose import blocks the service by a system call is taken out alone, although it is not the newest',
  async () => {
    const marker = join(await temporaryFolder(), 'marker')
    const service = await startGuarded({ bad: blockingImport('bad', marker), good: saying('good', 'yes') })
    await writeFile(marker, '')
    await killWorker(service)

    const { detail } = await service.takesOut('bad')

    expect(detail).toMatch(/Un appel de son code au système/)
    expect(await service.problems()).toMatchObject({ good: { problem: null } })
    expect(await auditOf(service, 'module_taken_out')).toEqual([{ target: 'bad', ip: 'service' }])
  },
  LONG,
)

test(
  'a module that fails in the trial of another one, because the service still has its port, stays in place',
  async () => {
    const forge = await testForge()
    const own = JSON.stringify({ port: await freePort(), host: '127.0.0.1', exclusive: true })
    const listens = `process.getBuiltinModule('node:net').createServer().listen(${own})`
    forge.put(repository('good', '1', `${saying('good', '1')}; ${listens}`))
    forge.put(repository('other', '1'))
    const service = await startReplaceable(forge, undefined, { PANEL_PORT: String(await freePort()) })
    expect(await service.install('good')).toMatchObject({ state: 'done' })

    expect(await service.install('other')).toMatchObject({ state: 'rolled_back' })
    const boot = await service.boot()
    await killWorker(service)
    await service.anew(boot)

    expect(await service.get('/api/modules/good/word')).toEqual({ status: 200, body: { word: '1' } })
    expect(await auditOf(service, 'module_taken_out')).toEqual([])
  },
  LONG,
)

test(
  'a new module whose import blocks its trial is rolled back, and later starts keep the others',
  async () => {
    const forge = await testForge()
    forge.put(repository('good', '1'))
    const marker = join(await temporaryFolder(), 'marker')
    forge.put(repository('bad', '1', blockingImport('bad', marker)))
    const service = await startReplaceable(forge, undefined, { PANEL_PORT: String(await freePort()) })
    expect(await service.install('good')).toMatchObject({ state: 'done' })
    await writeFile(marker, '')

    expect(await service.install('bad')).toMatchObject({ state: 'rolled_back' })
    const boot = await service.boot()
    await killWorker(service)
    await service.anew(boot)

    expect(await service.get('/api/modules/good/word')).toEqual({ status: 200, body: { word: '1' } })
    expect(await auditOf(service, 'module_taken_out')).toEqual([])
  },
  LONG,
)

const PARTS: readonly (readonly [part: string, code: string])[] = [
  [
    'request',
    saying('bad', 'x').replace('response:', `request: { query: z.object({ word: ${SLOW}.optional() }) }, response:`),
  ],
  [
    'answer',
    saying('bad', 'x')
      .replace('response: z.object({ word: z.string() })', `response: z.object({ word: ${SLOW} })`)
      .replace("handler: () => ({ word: 'x' })", `handler: async () => ({ word: '${LETTERS}' })`),
  ],
]

test.each(PARTS)(
  'a module with a slow pattern for its %s is taken out alone, although it is not the newest',
  async (_, bad) => {
    const service = await startGuarded({ bad, good: saying('good', 'yes') })
    service.get(`/api/modules/bad/word?word=${LETTERS}`, AbortSignal.timeout(1_000)).catch(() => undefined)

    const { detail, silence } = await service.takesOut('bad')

    expect(detail).toBe('Son code ne s’est pas terminé et a bloqué le service.')
    expect(silence).toBeLessThan(BACK_MS)
    expect(await service.problems()).toMatchObject({ good: { problem: null } })
    expect(await auditOf(service, 'module_taken_out')).toEqual([{ target: 'bad', ip: 'service' }])
  },
  LONG,
)
