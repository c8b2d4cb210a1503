import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { shells } from '../functions/protection/look.ts'
import { imageRegistry, type Trouble } from './image-registry.ts'
import { applicationsOf, reasons, service, services, short, startedStack } from './stack-panel.ts'
import { type StackPlace, stackPlace } from './stack-place.ts'

const SHELLS: Record<string, readonly string[]> = { sh: ['sh'], bash: ['bash'], busybox: ['busybox', 'sh'] }

const namesOf = (lines: readonly string[]) =>
  applicationsOf(lines).map(({ name, updatable, source }) => [name, updatable, source?.digest ?? null])

test.for(shells)('lists exactly the newer digest of the registry, and tells no secret, in %s', async (shell) => {
  const { registry, place, file, app, data, old, newer, db } = await startedStack()
  const before = await place.containers('web')

  const { lines, stderr } = await place.look(SHELLS[shell])

  expect(reasons(lines)).toEqual([])
  expect(applicationsOf(lines)).toEqual([
    {
      id: 'compose:web',
      kind: 'compose',
      name: 'web',
      version: `${app} ${short(old.digest)}, ${data} ${short(db.digest)}`,
      available: `${app} ${short(newer.digest)}`,
      source: { address: file, digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      updatable: true,
    },
  ])
  // Nothing could be agreed to if the digest were another one each time.
  expect((await place.look(SHELLS[shell])).lines).toEqual(lines)
  expect(`${lines.join('\n')}${stderr}`).not.toContain('secret')
  expect(await place.leftBehind()).toEqual([])
  expect(await place.containers('web')).toEqual(before)
  expect(registry.requests.join('\n')).not.toMatch(/DELETE|PUT|POST|PATCH/)
})

test.for<[Trouble, RegExp]>([
  ['away', /EOF/],
  ['hanging', /no answer within 10 s/],
  ['limited', /toomanyrequests/],
  ['broken', /invalid character/],
  ['empty', /manifest unknown/],
])('finds nothing up to date at a registry that is %s', async ([trouble, reason]) => {
  const { registry, place, app, data } = await startedStack()
  registry.refuse(trouble)
  const began = performance.now()

  const { lines } = await place.look()

  expect(performance.now() - began).toBeLessThan(30_000)
  expect(reasons(lines)).toEqual([
    expect.stringMatching(`^web: ${app}: .*${reason.source}`),
    expect.stringMatching(`^web: ${data}: .*${reason.source}`),
  ])
  expect(applicationsOf(lines)).toMatchObject([{ name: 'web', available: null, updatable: false }])
  expect(await place.leftBehind()).toEqual([])
})

test.for<[string, (place: StackPlace, file: string, image: string) => Promise<unknown>, string | RegExp]>([
  ['its file has moved', (_, file) => rename(file, `${file}.old`), /^web: \/\S+\/web\/compose\.yaml is not there$/],
  ['its file cannot be read', (_, file) => writeFile(file, 'services: ['), 'web: Docker Compose cannot read its files'],
  [
    'variables are not set',
    (_, file, image) => writeFile(file, services(service('app', image, '    command: "$OF_B $OF_A $OF_B"\n'))),
    'web: these variables come from the shell that started it: OF_A OF_B',
  ],
  [
    'a variable is required',
    (_, file, image) =>
      writeFile(file, services(service('app', image, `    hostname: \${NEEDED:?secret of the stack}\n`))),
    'web: Docker Compose cannot read its files',
  ],
  [
    'a variable is passed on',
    (_, file, image) => writeFile(file, services(service('app', image, '    environment: [TOKEN, PASSED, GIVEN=1]\n'))),
    'web: these variables come from the shell that started it: PASSED',
  ],
  [
    'a file of variables is missing',
    (_, file, image) => writeFile(file, services(service('app', image, '    env_file: [missing.env]\n'))),
    'web: Docker Compose cannot read its files',
  ],
  [
    'only Compose 1 is there',
    ({ home }) => rm(join(home, '.docker/cli-plugins/docker-compose')),
    'web: Docker Compose 2 is missing',
  ],
])('shows a stack that cannot be run where %s', async ([, change, reason]) => {
  const { place, file, app } = await startedStack()
  await change(place, file, app)

  const { lines } = await place.look()

  expect(reasons(lines)).toContainEqual(typeof reason === 'string' ? reason : expect.stringMatching(reason))
  expect(namesOf(lines)).toEqual([['web', false, null]])
  expect(lines.join('\n')).not.toContain('secret of the stack')
})

test('runs nothing that labels of containers and images say', async () => {
  const [registry, place] = [await imageRegistry(), await stackPlace()]
  registry.publish('app', { version: '1' })
  const label = (name: string, value: string) => ['--label', `com.docker.compose.${name}=${value}`]
  const files = label('project.config_files', '/etc/passwd')
  const own = { 'com.docker.compose.project.config_files': '/etc/passwd' }
  registry.publish('evil', { version: '1', labels: own })
  const sly = { 'com.docker.compose.project.environment_file': '/etc/passwd' }
  registry.publish('sly', { version: '1', labels: sly })
  const start = async (name: string, ...labels: string[]) => {
    const more = ['--network', 'none', ...label('project.working_dir', '/etc'), ...labels]
    return (await place.docker('run', '-d', '--label', 'of-test=1', ...more, registry.name(name))).slice(0, 12)
  }
  const unreadable = [
    await start('app', ...files, ...label('project', 'web|x'), ...label('service', 'app')),
    await start('app', ...files, ...label('project', 'web\ncode|0'), ...label('service', 'app')),
    await start('app', ...files, ...label('project', '../web'), ...label('service', 'app')),
    await start('app', ...files, ...label('project', '-f'), ...label('service', 'app')),
    await start('app', ...files, ...label('project', '$(touch /tmp/ran)'), ...label('service', 'app')),
    await start('app', ...files, ...label('project', 'web'), ...label('service', '$(touch /tmp/ran)')),
    await start('app', ...label('project', 'web'), ...label('service', 'a'), ...label('project.config_files', '/a|b')),
  ]
  await start(
    'app',
    ...label('project', 'a'),
    ...label('service', 's'),
    ...label('project.config_files', '/$(touch /tmp/ran)'),
  )
  await start('app', ...label('project', 'b'), ...label('service', 's'), ...label('project.config_files', '-'))
  await start('app', ...label('project', 'c'), ...label('service', 's'), ...label('project.config_files', '/etc/*'))
  await start('app', ...label('project', 'd'), ...label('service', 's'), ...label('project.config_files', '/dev/zero'))
  await start('app', ...label('project', 'e'), ...label('service', 's'), ...files)
  await start('evil', ...label('project', 'f'), ...label('service', 's'))
  // Compose sets no label for a file of variables that it was not given, so that of the image stays.
  await start('sly', ...label('project', 'g'), ...label('service', 's'), ...files)

  const { lines } = await place.look()

  const told = reasons(lines) ?? []
  for (const id of unreadable) expect(told).toContain(`null: the labels of the container ${id} cannot be read`)
  expect(told.slice(unreadable.length)).toEqual([
    expect.stringMatching(/^null: images with labels of Docker Compose are left out: [0-9a-f]{12} [0-9a-f]{12}$/),
    'a: /$(touch /tmp/ran) is not there',
    'b: its containers do not tell where its files are',
    'c: /etc/* is not there',
    'd: /dev/zero is not there',
    expect.stringMatching(/^e: /),
  ])
  expect(namesOf(lines)).toEqual(['a', 'b', 'c', 'd', 'e'].map((name) => [name, false, null]))
  expect(await place.leftBehind()).toEqual([])
})
