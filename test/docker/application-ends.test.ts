import { expect, test } from 'vitest'
import { imageRegistry } from './image-registry.ts'
import { imageOf, panelOf, service, services } from './stack-panel.ts'
import { stackPlace } from './stack-place.ts'

test.for(['"no"', 'on-failure:2'])(
  'does not end well where the new image ends at once, restart: %s',
  async (restart) => {
    const [registry, place] = [await imageRegistry(), await stackPlace()]
    registry.publish('app', { version: '1' })
    await place.write('web/compose.yaml', services(service('app', registry.name('app'), `    restart: ${restart}\n`)))
    await place.compose('web', ['up', '-d'])
    registry.publish('app', { version: '2', command: 'exit 3' })
    const panel = await panelOf(place)

    const ended = await panel.update()

    expect(ended).toMatchObject({ exit_code: 1, outcome: 'failed' })
    expect(ended.output).toContain('ops-panel: app does not run any more\n')
    expect(ended.output).not.toContain('ops-panel: version')
  },
)

test('does not end well where new images are started again and again, or not healthy', async () => {
  const [registry, place] = [await imageRegistry(), await stackPlace()]
  registry.publish('app', { version: '1' })
  registry.publish('sick', { version: '1' })
  const probe = '[CMD, busybox, test, -e, /healthy]'
  await place.write(
    'web/compose.yaml',
    services(
      service('app', registry.name('app'), '    restart: unless-stopped\n'),
      service('sick', registry.name('sick'), `    healthcheck: { test: ${probe}, interval: 1s, retries: 1 }\n`),
    ),
  )
  await place.compose('web', ['up', '-d'])
  registry.publish('app', { version: '2', command: 'exit 3' })
  registry.publish('sick', { version: '2' })
  const panel = await panelOf(place)

  const ended = await panel.update()

  expect(ended).toMatchObject({ exit_code: 1, outcome: 'failed' })
  expect(ended.output).toContain('ops-panel: app ends again and again\n')
  expect(ended.output).toContain('ops-panel: sick is not healthy\n')
  expect(ended.output).not.toContain('ops-panel: version')
})

test('ends well where a new image needs some starts', async () => {
  const [registry, place] = [await imageRegistry(), await stackPlace()]
  registry.publish('app', { version: '1' })
  await place.write('web/compose.yaml', services(service('app', registry.name('app'), '    restart: always\n')))
  await place.compose('web', ['up', '-d'])
  const command = 'echo >>/starts; [ "$(busybox wc -l </starts)" -gt 3 ] && exec busybox sleep 100000'
  const newer = registry.publish('app', { version: '2', command })
  const panel = await panelOf(place)

  expect(await panel.update()).toMatchObject({ status: 'success', outcome: 'upgraded' })

  expect(await place.containers('web')).toMatchObject([{ state: 'running', image: imageOf(newer) }])
})
