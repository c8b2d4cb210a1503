import { expect, test } from 'vitest'
import { BASE_LABEL } from '../../modules/deploy/docker/request.ts'
import { repository } from '../functions/modules/module.ts'
import { startContainer } from './service.ts'

/** The two places for the folder of modules: in the image, or in the volume with the data. */
const PLACES = [
  ['in the image', { PANEL_MODULES_DIR: '/modules' }],
  ['in a volume', {}],
] as const

test.each(PLACES)('with modules %s, an installation replaces the container of the service', async (where, env) => {
  const service = await startContainer({ env })
  const [before, boot] = [await service.inspect(), await service.boot()]
  service.forge.put(repository('wordy', '1.0.0'))

  const { state, error, log } = { ...(await service.install('wordy')) }

  expect({ state, error, log }).toMatchObject({ state: 'done', error: null })
  const after = await service.inspect()
  expect(after.Id).not.toBe(before.Id)
  expect(await service.boot()).not.toBe(boot)
  // With the token from before.
  expect(await service.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: '1.0.0' } })
  expect(await service.get('/api/repair/modules')).toMatchObject({ body: [{ id: 'wordy', problem: null }] })
  await service.quiet()
  expect(await service.family()).toEqual([''])
  const image = await service.engine.getImage(after.Image).inspect()
  expect(image.Config.Labels?.[BASE_LABEL]).toBe(where === 'in the image' ? before.Image : undefined)
})

test.each(PLACES)(
  'with modules %s, a module that ends the process is rolled back, and the previous container serves',
  async (_, env) => {
    const service = await startContainer({ env })
    service.forge.put(repository('wordy', '1.0.0'))
    expect(await service.install('wordy')).toMatchObject({ state: 'done' })
    await service.quiet()
    const [before, boot] = [await service.inspect(), await service.boot()]

    service.forge.put(repository('wordy', '2.0.0', 'process.exit(3)'))
    const { state, error } = { ...(await service.install('wordy')) }

    expect({ state, error }).toEqual({ state: 'rolled_back', error: expect.stringContaining('code 3') })
    const after = await service.inspect()
    expect({ id: after.Id, image: after.Image }).toEqual({ id: before.Id, image: before.Image })
    expect(await service.boot()).not.toBe(boot)
    expect(await service.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: '1.0.0' } })
    expect(await service.get('/api/repair/modules')).toMatchObject({
      body: [{ id: 'wordy', version: '1.0.0', problem: null }],
    })
    await service.quiet()
  },
)
