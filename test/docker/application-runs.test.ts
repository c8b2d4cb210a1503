import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { composeCommand } from '../../functions/applications/compose-run.ts'
import { refused } from '../functions/answers.ts'
import { imageRegistry } from './image-registry.ts'
import { applicationsOf, imageOf, panelOf, reasons, service, services, short, startedStack } from './stack-panel.ts'
import { stackPlace } from './stack-place.ts'

const another = (text = '') => expect.not.stringMatching(text)

test('brings the stack exactly to what was agreed to, and recreates nothing else', async () => {
  const { place, app, old, newer } = await startedStack()
  await place.write('other/compose.yaml', services(service('app', `${app}@${old.digest}`)))
  await place.compose('other', ['up', '-d'])
  const before = await place.containers('web')
  const panel = await panelOf(place)
  const { files } = await panel.source()

  const ended = await panel.update()

  expect(files[0]?.text).toContain(`app: ${app}\n  ${old.digest} -> ${newer.digest}\n`)
  expect(ended).toMatchObject({ status: 'success', exit_code: 0, outcome: 'upgraded', warnings: [] })
  expect(ended.output).toContain(`ops-panel: version ${app} ${short(old.digest)} -> ${app} ${short(newer.digest)}\n`)
  expect(await place.containers('web')).toEqual([
    { service: 'app', state: 'running', image: imageOf(newer), id: another(before[0]?.id) },
    before[1],
  ])
  expect(await place.containers('other')).toMatchObject([{ image: imageOf(old), state: 'running' }])
  expect(ended.output).not.toContain('secret')
  expect(await place.leftBehind()).toEqual([])
  expect(applicationsOf((await place.look()).lines)).toMatchObject([
    { name: 'other', available: null },
    { name: 'web', available: null },
  ])
})

test('keeps scale, profiles and order, and what a service waits for, of a stack of several files', async () => {
  const [registry, place] = [await imageRegistry(), await stackPlace()]
  const [app, migrate] = [registry.name('app:2'), registry.name('migrate')]
  // As most names of public registries, it is one for several platforms.
  const old = registry.publish('app:2', { version: '1', isList: true })
  registry.publish('migrate', { version: '1', command: 'exit 0' })
  await place.write('my web/base.yaml', services(service('base', app)))
  await place.write('my web/included.yaml', services(service('included', app)))
  await place.write('my web/app.env', 'PASSWORD=secret of a file\n')
  await place.write('my web/prod.env', 'TAG=2\n')
  const waits = '    depends_on:\n      migrate: { condition: service_completed_successfully }\n'
  const extended = `  app:\n    extends: { file: base.yaml, service: base }\n    env_file: [app.env]\n    scale: 2\n${waits}`
  const named = extended.replace('    env_file', `    image: ${registry.name('app:$TAG')}\n    env_file`)
  await place.write(
    'my web/compose.yaml',
    `include: [included.yaml]\n${services(
      service('migrate', migrate, '    pull_policy: always\n'),
      named,
      service('tool', app, '    profiles: [tools]\n'),
    )}`,
  )
  await place.compose('my web', ['-p', 'web', '--env-file', 'prod.env', '--profile', 'tools', 'up', '-d'])
  const newer = registry.publish('app:2', { version: '2', isList: true })
  const once = registry.publish('migrate', { version: '2', command: 'exit 0' })
  const panel = await panelOf(place)

  const ended = await panel.update()

  expect(ended).toMatchObject({ status: 'success', outcome: 'upgraded' })
  // Each image once, although several services have it.
  expect(ended.output.match(/^ops-panel: pulling .*$/gm)).toEqual([
    `ops-panel: pulling ${app} with the digest ${newer.digest}`,
    `ops-panel: pulling ${migrate} with the digest ${once.digest}`,
  ])
  expect(ended.output).toMatch(
    new RegExp(`^ops-panel: version ${app} ${short(old.digest)}, \\S+ \\w+ -> ${app} ${short(newer.digest)}, `, 'm'),
  )
  const told = ended.output.split('\n').map((line) => line.trim())
  expect(told.indexOf('Container web-migrate-1  Exited')).toBeGreaterThan(0)
  expect(told.indexOf('Container web-migrate-1  Exited')).toBeLessThan(told.indexOf('Container web-app-1  Starting'))
  const image = async (id = '') => place.docker('image', 'inspect', '--format', '{{json .RepoDigests}}', id)
  const now = await place.containers('web')
  expect(now.map(({ service, state }) => `${service} ${state}`)).toEqual([
    'app running',
    'app running',
    'included running',
    'migrate exited',
    'tool running',
  ])
  for (const { service, image: id } of now)
    expect(await image(id)).toContain((service === 'migrate' ? once : newer).digest)
  expect(ended.output).not.toContain('secret')
  expect(applicationsOf((await place.look()).lines)).toMatchObject([{ name: 'web', available: null }])
})

test('leaves what was stopped as it is, also where another service depends on it', async () => {
  const [registry, place] = [await imageRegistry(), await stackPlace()]
  const old = registry.publish('app', { version: '1' })
  const image = registry.name('app')
  await place.write(
    'web/compose.yaml',
    services(
      service('app', image, '    depends_on: [cache, db]\n'),
      service('cache', image, '    profiles: [cached]\n'),
      service('db', image),
      service('never', image),
    ),
  )
  await place.compose('web', ['--profile', 'cached', 'up', '-d', 'app'])
  await place.compose('web', ['--profile', 'cached', 'stop', 'cache', 'db'])
  const [, cache, db] = await place.containers('web')
  const newer = registry.publish('app', { version: '2' })
  const panel = await panelOf(place)

  expect(await panel.update()).toMatchObject({ status: 'success', outcome: 'upgraded' })

  for (const [name, stopped] of Object.entries({ cache, db }))
    expect(stopped).toMatchObject({ service: name, state: 'exited', image: imageOf(old) })
  expect(await place.containers('web')).toEqual([
    expect.objectContaining({ service: 'app', state: 'running', image: imageOf(newer) }),
    cache,
    db,
  ])
})

test('changes nothing where the registry gives another image since the agreement', async () => {
  const { registry, place } = await startedStack()
  const panel = await panelOf(place)
  const { digest } = await panel.source()
  await panel.agree(digest)
  registry.publish('app', { version: '3' })
  const images = async () =>
    (await place.docker('image', 'ls', '-a', '--format', '{{.ID}} {{.Repository}} {{.Tag}} <{{.Digest}}>'))
      .split('\n')
      .sort()
  const before = [await place.containers('web'), await images()]

  await refused(await panel.run(digest), 409, 'source_changed')
  // The job looks once more, before it pulls.
  const { code, stdout } = await place.run(composeCommand('101', 'web', digest, 'root').slice(4))

  expect({ code, first: stdout.split('\n')[0] }).toEqual({
    code: 76,
    first: 'ops-panel: this is not what was agreed to any more',
  })
  expect([await place.containers('web'), await images()]).toEqual(before)
})

test('leaves the credentials of a registry where they are, and a service alone whose registry refuses', async () => {
  const password = 'password of the registry'
  const [registry, open, place] = [await imageRegistry({ password }), await imageRegistry(), await stackPlace()]
  const auth = Buffer.from(`panel:${password}`).toString('base64')
  const login = join(place.home, '.docker/config.json')
  await writeFile(login, JSON.stringify({ auths: { [registry.host]: { auth } } }))
  registry.publish('app', { version: '1' })
  open.publish('db', { version: '1' })
  await place.write('web/compose.yaml', services(service('app', registry.name('app')), service('db', open.name('db'))))
  await place.compose('web', ['up', '-d'])
  const second = registry.publish('app', { version: '2' })
  const panel = await panelOf(place)

  const { files } = await panel.source()
  const ended = await panel.update()

  expect(ended).toMatchObject({ status: 'success', outcome: 'upgraded' })
  const [app] = await place.containers('web')
  expect(app).toMatchObject({ service: 'app', image: imageOf(second) })
  for (const text of [JSON.stringify(files), ended.output])
    for (const secret of [password, auth]) expect(text).not.toContain(secret)

  await rm(login)
  registry.publish('app', { version: '3' })
  const newer = open.publish('db', { version: '2' })
  expect(reasons((await place.look()).lines)).toEqual([
    expect.stringMatching(`^web: ${registry.name('app')}: .*no basic auth credentials`),
  ])
  expect(await panel.update()).toMatchObject({ status: 'success', outcome: 'upgraded' })
  expect(await place.containers('web')).toEqual([
    app,
    expect.objectContaining({ service: 'db', image: imageOf(newer) }),
  ])
})
