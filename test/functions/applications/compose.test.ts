import { describe, expect, test } from 'vitest'
import { composeReport } from '../../../functions/applications/compose-report.ts'
import { shells } from '../protection/look.ts'
import { config, type Engine, sha, stacks } from './compose-stand-in.ts'

const [OLD, NEW, DB] = [sha('1'), sha('2'), sha('3')]
const [OLD_DIGEST, NEW_DIGEST, DB_DIGEST] = [sha('a'), sha('b'), sha('d')]

/** A stack whose `app` has a newer image in the registry, and whose `db` has not. */
const WEB: Engine = {
  containers: [
    { service: 'app', image: OLD },
    { service: 'db', image: DB },
  ],
  images: { [OLD]: [`nginx@${OLD_DIGEST}`], [DB]: [`postgres@${DB_DIGEST}`] },
  tags: { 'nginx:latest': OLD, 'postgres:16': DB },
  registry: { 'nginx:latest': NEW_DIGEST, 'postgres:16': DB_DIGEST },
  pullable: { [NEW_DIGEST]: NEW },
  configs: { web: config('web', { app: 'nginx:latest', db: 'postgres:16' }) },
}

const only = (lines: readonly string[]) => composeReport(lines)?.applications[0]
const reasons = (lines: readonly string[]) =>
  composeReport(lines)?.problems.map(({ name, message }) => `${name}: ${message}`)

describe('a look', () => {
  test.for(shells)('lists the images of a stack that the registry has newer, in %s', async (shell) => {
    const host = await stacks(WEB, { shell })

    const lines = await host.look()

    const report = composeReport(lines)
    expect(report?.problems).toEqual([])
    expect(report?.applications).toEqual([
      {
        id: 'compose:web',
        kind: 'compose',
        name: 'web',
        version: 'nginx:latest aaaaaaaaaaaa, postgres:16 dddddddddddd',
        available: 'nginx:latest bbbbbbbbbbbb',
        source: { address: host.place, digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
        updatable: true,
      },
    ])
    expect(report?.services.get('compose:web')).toEqual([
      { service: 'app', image: 'nginx:latest', from: OLD_DIGEST, to: NEW_DIGEST, isKnown: true, containers: 1 },
      { service: 'db', image: 'postgres:16', from: DB_DIGEST, to: DB_DIGEST, isKnown: true, containers: 1 },
    ])
    expect(await host.leftBehind()).toEqual([])
    // It changes nothing, and nothing of a stack's secrets or of this shell goes anywhere.
    expect(await host.file('calls')).not.toMatch(/pull|tag|up -d/)
    expect(await host.file('leaks')).not.toMatch(/of the host compose/)
    expect(lines.join('\n')).not.toContain('secret')
  })

  test('finds nothing newer where each container has what the registry gives', async () => {
    const host = await stacks({ ...WEB, registry: { 'nginx:latest': OLD_DIGEST, 'postgres:16': DB_DIGEST } })

    const lines = await host.look()

    expect(reasons(lines)).toEqual([])
    expect(only(lines)).toMatchObject({ available: null, updatable: false })
  })

  test('compares the image that runs, not one that was only pulled', async () => {
    const host = await stacks({
      ...WEB,
      images: { ...WEB.images, [NEW]: [`nginx@${NEW_DIGEST}`] },
      tags: { ...WEB.tags, 'nginx:latest': NEW },
    })

    expect(only(await host.look())).toMatchObject({ available: 'nginx:latest bbbbbbbbbbbb', updatable: true })
  })

  test('tells the digest that an image has in the repository of its name, where it has others too', async () => {
    const host = await stacks({
      ...WEB,
      images: {
        ...WEB.images,
        [OLD]: [`mirror.example:5000/nginx@${sha('9')}`, `a/nginx@${sha('8')}`, `nginx@${OLD_DIGEST}`],
      },
    })

    const lines = await host.look()

    expect(only(lines)?.version).toBe('nginx:latest aaaaaaaaaaaa, postgres:16 dddddddddddd')
  })

  test('takes the name of an image from the files, also where the container was started with another one', async () => {
    const host = await stacks({
      ...WEB,
      registry: { 'nginx:2': NEW_DIGEST, 'postgres:16': DB_DIGEST },
      configs: { web: config('web', { app: 'nginx:2', db: 'postgres:16' }) },
    })

    expect(only(await host.look())).toMatchObject({ available: 'nginx:2 bbbbbbbbbbbb' })
  })

  test('knows an image that the engine names by its digest alone', async () => {
    const host = await stacks({
      ...WEB,
      containers: [{ service: 'app', image: NEW_DIGEST }],
      images: { [NEW_DIGEST]: [] },
      tags: { 'nginx:latest': NEW_DIGEST },
    })

    expect(only(await host.look())).toMatchObject({ available: null })
  })

  test('does not call a stack up to date whose registry cannot be asked, and goes on with the others', async () => {
    const host = await stacks({ ...WEB, registry: { 'nginx:latest': NEW_DIGEST } })

    const lines = await host.look()

    expect(reasons(lines)).toEqual([
      'web: postgres:16: failed to resolve digest for docker.io/postgres:16: unauthorized: authentication required',
    ])
    expect(only(lines)).toMatchObject({ available: 'nginx:latest bbbbbbbbbbbb', updatable: true })
    expect(composeReport(lines)?.services.get('compose:web')?.[1]).toMatchObject({ isKnown: false, to: DB })
  })

  test('asks no registry for an image that is built in the target', async () => {
    const host = await stacks({
      ...WEB,
      configs: { web: config('web', { app: 'nginx:latest' }, '    build:\n      context: /x\n') },
    })

    const lines = await host.look()

    expect(only(lines)).toMatchObject({ available: null, updatable: false })
    expect(await host.file('calls')).not.toContain('--resolve-image-digests')
  })

  test.each<[string, Partial<Engine>, string]>([
    [
      'a variable is gone',
      { configs: { ...WEB.configs } },
      'web: these variables come from the shell that started it: OTHER TOKEN',
    ],
    [
      'a value came from a shell',
      { configs: { web: config('web', { app: 'nginx:latest' }).replace('KEY: secret of web', 'TOKEN: null') } },
      'web: these variables come from the shell that started it: TOKEN',
    ],
    [
      'a file is gone',
      { containers: [{ service: 'app', image: OLD, files: '/data/compose/7/x.yml' }] },
      'web: /data/compose/7/x.yml is not there',
    ],
    [
      'a label has a relative file',
      { containers: [{ service: 'app', image: OLD, files: 'compose.yml' }] },
      'web: its containers do not tell where its files are',
    ],
    [
      'its containers have different files',
      {
        containers: [
          { service: 'app', image: OLD },
          { service: 'app', image: OLD, files: '/other.yml' },
        ],
      },
      'web: its containers were started from different files',
    ],
    ['Compose cannot read its files', { configs: {} }, 'web: Docker Compose cannot read its files'],
  ])('shows a stack that cannot be run where %s, and why', async (title, own, reason) => {
    const host = await stacks({ ...WEB, ...own, registry: { ...WEB.registry, 'old/image:1': NEW_DIGEST } })
    if (title.includes('variable is gone'))
      await host.write(
        'warnings.web',
        ['TOKEN', 'OTHER', 'TOKEN']
          .map(
            (name) =>
              `time="2026-11-27T02:40:29Z" level=warning msg="The \\"${name}\\" variable is not set. Defaulting to a blank string."\n`,
          )
          .join(''),
      )

    const lines = await host.look()

    expect(reasons(lines)).toContain(reason)
    expect(only(lines)).toMatchObject({ name: 'web', updatable: false, source: { digest: null } })
  })

  test('takes the image of a service from nothing else in its configuration', async () => {
    const text = `name: web
services:
  app:
    command:
      - sh
      - -c
      - |-
        image: evil:1
    configs:
      - source: page
    environment:
      EMPTY: ""
      NOTE: |-
        services:
          other:
            image: evil:2
            build: x
      QUOTED: 'null'
    image: "nginx:latest"
    labels:
      image: evil:3
    ports:
      - mode: ingress
        target: 80
        published: "8080"
        protocol: tcp
configs:
  page:
    content: |
      services:
        app:
    image: evil:4
x-services:
  app:
    image: evil:5
`
    const host = await stacks({ ...WEB, containers: [{ service: 'app', image: OLD }], configs: { web: text } })

    const lines = await host.look()

    expect(reasons(lines)).toEqual([])
    expect(composeReport(lines)?.services.get('compose:web')).toMatchObject([{ service: 'app', image: 'nginx:latest' }])
    expect(lines.join('\n')).not.toContain('evil')
  })

  test('shows the other stacks, and the other services, where an image has no usual name', async () => {
    const host = await stacks({
      ...WEB,
      containers: [
        ...WEB.containers,
        { project: 'odd', service: 'a', image: OLD },
        { project: 'odd', service: 'b', image: OLD },
      ],
      configs: { ...WEB.configs, odd: config('odd', { a: '-v', b: 'nginx:latest@sha256:x' }) },
    })

    const lines = await host.look()

    expect(reasons(lines)).toEqual([
      'odd: nginx:latest@sha256:x: the registry was not asked',
      'odd: the image of a has no usual name',
    ])
    expect(composeReport(lines)?.applications.map(({ name, updatable }) => [name, updatable])).toEqual([
      ['odd', false],
      ['web', true],
    ])
  })

  test('still compares the images of a stack whose files cannot be read', async () => {
    const host = await stacks({ ...WEB, configs: {}, registry: { 'old/image:1': NEW_DIGEST } })

    expect(only(await host.look())).toMatchObject({ available: 'old/image:1 bbbbbbbbbbbb', updatable: false })
  })

  test('shows stacks without a usable Compose, and asks no registry', async () => {
    const host = await stacks(WEB)
    await host.write('version', '1.29.2\n')

    const lines = await host.look()

    expect(reasons(lines)).toContain('web: Docker Compose 2 is missing')
    expect(reasons(lines)).toContain('web: old/image:1: the registry was not asked')
    expect(only(lines)).toMatchObject({ updatable: false, available: null })
  })

  test.each<[label: 'config_files' | 'environment_file', container: object]>([
    ['config_files', { files: '/data/evil.yml' }],
    // Compose sets this label only where it was given such a file.
    ['environment_file', { variables: '/data/evil' }],
  ])('leaves out a container whose image brings the label %s of Compose', async (name, own) => {
    const host = await stacks({
      ...WEB,
      containers: [{ service: 'app', image: OLD, ...own }],
      forged: { [OLD]: name },
    })

    const lines = await host.look()

    expect(only(lines)).toBeUndefined()
    expect(reasons(lines)).toEqual(['null: images with labels of Docker Compose are left out: 111111111111'])
  })

  test('says which container has labels that cannot be read', async () => {
    const host = await stacks({ ...WEB, containers: [{ project: 'We\\nb', service: 'app', image: OLD }] })

    const lines = await host.look()

    expect(only(lines)).toBeUndefined()
    expect(reasons(lines)).toEqual(['null: the labels of the container cccccccccccc cannot be read'])
  })

  test('leaves out what has been stopped, and keeps what a running service waits for', async () => {
    const host = await stacks({
      ...WEB,
      containers: [
        {
          service: 'app',
          image: OLD,
          depends: 'db:service_started:false,migrate:service_completed_successfully:false',
        },
        { service: 'db', image: OLD, state: 'exited' },
        { service: 'migrate', image: OLD, state: 'exited' },
        { service: 'app', image: OLD, oneoff: 'True', state: 'running' },
      ],
      configs: { web: config('web', { app: 'nginx:latest', db: 'nginx:latest', migrate: 'nginx:latest' }) },
    })

    const lines = await host.look()

    expect(
      lines
        .filter((line) => line.startsWith('service|'))
        .map((line) => line.replace(/.*\|([a-z]+)\|nginx.*\|(\d\|[a-z]+)$/, '$1 $2')),
    ).toEqual(['app 1|up', 'migrate 1|once'])
  })

  test('shows a stack that is stopped, and compares nothing of it', async () => {
    const host = await stacks({ ...WEB, containers: [{ service: 'app', image: OLD, state: 'exited' }] })

    const lines = await host.look()

    expect(only(lines)).toMatchObject({ name: 'web', version: null, available: null, updatable: false })
  })

  test('asks no registry about an image that the files name by its digest', async () => {
    const pinned = `nginx:1.27@${NEW_DIGEST}`
    const host = await stacks({ ...WEB, configs: { web: config('web', { app: pinned, db: 'postgres:16' }) } })

    const lines = await host.look()

    expect(only(lines)).toMatchObject({ available: 'nginx:1.27 bbbbbbbbbbbb', updatable: true })
    expect((await host.file('calls')).match(/--resolve-image-digests/g)).toHaveLength(1)
  })

  test('uses a Compose that is a program of its own', async () => {
    const host = await stacks(WEB, {
      programs: { 'docker-compose': `ALONE=1 exec "\${0%/*}/docker" compose "$@"` },
    })
    await host.write('version', '1.29.2\n')
    await host.write('version-alone', 'v2.29.7\n')

    expect(only(await host.look())).toMatchObject({ updatable: true })
    expect(await host.file('calls')).toContain('--resolve-image-digests')
  })

  test('asks no engine that does not run, and none that fails is up to date', async () => {
    const host = await stacks(WEB)
    await host.write('engine-fails', '')
    const failed = await host.look()
    await host.remove('proc/77/comm')
    await host.write('calls', '')

    expect(failed.at(-1)).toBe('code|1')
    expect(failed[0]).toBe('problem|-|Cannot connect to the Docker daemon at http://x/y.')
    expect(composeReport(failed)).toBeUndefined()
    await host.look()
    expect(await host.file('calls')).toBe('')
  })
})

describe('a run', () => {
  const digestOf = (lines: readonly string[]) => only(lines)?.source?.digest ?? ''

  test.for(shells)(
    'pulls exactly the listed digests and recreates the services of this stack, in %s',
    async (shell) => {
      const host = await stacks(
        {
          ...WEB,
          containers: [...WEB.containers, { project: 'other', service: 'app', image: OLD }],
          configs: { ...WEB.configs, other: config('other', { app: 'nginx:latest' }) },
        },
        { shell },
      )
      const digest =
        composeReport(await host.look())?.applications.find(({ name }) => name === 'web')?.source?.digest ?? ''
      await host.write('calls', '')

      const { code, lines } = await host.update('web', digest)

      expect(lines.slice(-2)).toEqual([
        'ops-panel: web has the images that were listed',
        'ops-panel: version nginx:latest aaaaaaaaaaaa -> nginx:latest bbbbbbbbbbbb',
      ])
      expect(code).toBe(0)
      const calls = (await host.file('calls')).split('\n')
      expect(calls.filter((call) => /^(pull|tag) /.test(call))).toEqual([
        `pull nginx@${NEW_DIGEST}`,
        `tag ${NEW} nginx:latest`,
      ])
      expect(calls.filter((call) => / up /.test(call))).toEqual([
        `compose --ansi never -p web --project-directory ${host.folder} -f ${host.place} --profile * up -d --no-build --no-deps --pull never --remove-orphans=false --scale app=1 --scale db=1 app db`,
      ])
      const images = (await host.file('containers'))
        .split('\n')
        .slice(0, -1)
        .map((line) => line.split('|'))
      expect(images.map((field) => [field[4], field[5], field[1]])).toEqual([
        ['web', 'app', NEW],
        ['web', 'db', DB],
        ['other', 'app', OLD],
      ])
      expect(await host.leftBehind()).toEqual([])
      // The stack has what was offered; the other one has not.
      expect(composeReport(await host.look())?.applications.map(({ name, available }) => [name, available])).toEqual([
        ['other', 'nginx:latest bbbbbbbbbbbb'],
        ['web', null],
      ])
    },
  )

  test.each<[string, (host: Awaited<ReturnType<typeof stacks>>) => Promise<void>]>([
    [
      'the registry gives another digest',
      (host) => host.write('registry', `nginx:latest|${sha('e')}\npostgres:16|${DB_DIGEST}\n`),
    ],
    ['the registry cannot be asked', (host) => host.write('registry', `postgres:16|${DB_DIGEST}\n`)],
    [
      'the configuration is another one',
      (host) =>
        host.write('config.web', config('web', { app: 'nginx:latest', db: 'postgres:16' }).replace('secret', 'other')),
    ],
    [
      'a container was recreated',
      async (host) => host.write('containers', (await host.file('containers')).replace(OLD, DB)),
    ],
  ])('changes nothing where %s', async (_, meanwhile) => {
    const host = await stacks(WEB)
    const digest = digestOf(await host.look())
    await meanwhile(host)
    await host.write('calls', '')

    const { code, lines } = await host.update('web', digest)

    expect(code).toBe(76)
    expect(lines[0]).toBe('ops-panel: this is not what was agreed to any more')
    expect(lines.slice(1).every((line) => line.startsWith(' '))).toBe(true)
    expect(await host.file('calls')).not.toMatch(/^(pull|tag)| up /m)
  })

  test('changes nothing where an image cannot be pulled', async () => {
    const host = await stacks({ ...WEB, pullable: {} })
    const before = await host.file('containers')

    const { code, lines } = await host.update('web', digestOf(await host.look()))

    expect(code).toBe(79)
    expect(lines).toContain('Error response from daemon: manifest unknown')
    expect(lines.at(-1)).toBe('ops-panel: nothing was changed: nginx:latest could not be pulled')
    expect(await host.file('containers')).toBe(before)
    expect(await host.file('tags')).toContain(`nginx:latest|${OLD}`)
  })

  test.each([
    ['the configuration', `sed -i s/secret/other/ config.web`, 'its configuration has changed meanwhile'],
    ['the image of a container', `sed -i 's/${DB}/${OLD}/' containers`, 'its containers have changed meanwhile'],
  ])('looks at %s again after the pull', async (_, meanwhile, reason) => {
    const host = await stacks(WEB)
    await host.write('before-pull', meanwhile)

    const { code, lines } = await host.update('web', digestOf(await host.look()))

    expect(code).toBe(79)
    expect(lines.at(-1)).toBe(`ops-panel: nothing was changed: ${reason}`)
    expect(await host.file('calls')).not.toMatch(/^tag| up /m)
  })

  test('gives a service that keeps its image the name that somebody has moved, so that it is not recreated', async () => {
    const host = await stacks({
      ...WEB,
      images: { ...WEB.images, [sha('9')]: [] },
      tags: { ...WEB.tags, 'postgres:16': sha('9') },
    })

    const { code } = await host.update('web', digestOf(await host.look()))

    expect(code).toBe(0)
    expect(await host.file('containers')).toContain(DB)
    expect(await host.file('containers')).not.toContain(sha('9'))
  })

  test('that could give only the first of two images its name does not say that nothing was changed', async () => {
    const host = await stacks({
      ...WEB,
      images: { ...WEB.images, [sha('9')]: [] },
      tags: { ...WEB.tags, 'postgres:16': sha('9') },
    })
    await host.write('tag-fails', 'postgres:16\n')

    const { code, lines } = await host.update('web', digestOf(await host.look()))

    expect(code).toBe(1)
    expect(lines.at(-1)).toContain('postgres:16 does not name the listed image; no container was changed')
    expect(await host.file('tags')).toContain('nginx:latest|')
    expect(await host.file('tags')).not.toContain(`nginx:latest|${OLD}`)
    expect(await host.file('calls')).not.toMatch(/ up /)
  })

  test('changes no name where two services need one in two versions', async () => {
    const host = await stacks({
      ...WEB,
      containers: [...WEB.containers, { service: 'other', image: sha('9') }],
      images: { ...WEB.images, [sha('9')]: [`postgres@${DB_DIGEST}`] },
      configs: { web: config('web', { app: 'nginx:latest', db: 'postgres:16', other: 'postgres:16' }) },
    })

    const { code, lines } = await host.update('web', digestOf(await host.look()))

    expect(code).toBe(79)
    expect(lines.at(-1)).toBe('ops-panel: nothing was changed: postgres:16 is needed in two versions')
    expect(await host.file('calls')).not.toMatch(/^tag | up /m)
  })

  test('pulls an image that the files name by its digest, and gives it no other name', async () => {
    const pinned = `nginx:1.27@${NEW_DIGEST}`
    const host = await stacks({ ...WEB, configs: { web: config('web', { app: pinned, db: 'postgres:16' }) } })

    const { code } = await host.update('web', digestOf(await host.look()))

    expect(code).toBe(0)
    expect(await host.file('calls')).toContain(`pull nginx@${NEW_DIGEST}`)
    expect(await host.file('calls')).not.toMatch(/^tag /m)
    expect(await host.file('containers')).toContain(NEW)
  })

  test('leaves a service alone whose registry cannot be asked', async () => {
    const host = await stacks({ ...WEB, registry: { 'nginx:latest': NEW_DIGEST } })

    const { code } = await host.update('web', digestOf(await host.look()))

    expect(code).toBe(0)
    expect((await host.file('calls')).match(/^pull .*$/gm)).toEqual([`pull nginx@${NEW_DIGEST}`])
    expect(await host.file('containers')).toContain(DB)
  })

  test('keeps the number of containers of each service', async () => {
    const host = await stacks({
      ...WEB,
      containers: [...WEB.containers, { service: 'app', image: NEW }],
      images: { ...WEB.images, [NEW]: [`nginx@${NEW_DIGEST}`] },
    })

    const { code } = await host.update('web', digestOf(await host.look()))

    expect(code).toBe(0)
    expect(await host.file('calls')).toContain('--scale app=2 --scale db=1 app db')
  })

  test.each([
    [
      'Compose fails',
      'up-fails',
      '',
      1,
      'ops-panel: Docker Compose has failed with the code 1; a part of the stack may have its new images',
    ],
    ['a container ends at once', 'exits.app', '', 1, 'ops-panel: app does not run any more'],
    ['a container is started again and again', 'loops', 'app', 1, 'ops-panel: app ends again and again'],
    ['a container is not healthy', 'health', 'db unhealthy', 1, 'ops-panel: db is not healthy'],
    ['a container is gone', 'after-up', `sed -i '/|db|/d' containers`, 1, 'ops-panel: db has not 1 containers'],
    [
      'a container has another image',
      'after-up',
      `sed -i 's/${NEW}/${OLD}/' containers`,
      70,
      `ops-panel: app has the image ${OLD} instead of ${NEW}`,
    ],
  ])('never ends well where %s', async (_, file, text, expected, last) => {
    const host = await stacks(WEB)
    await host.write(file, text)

    const { code, lines } = await host.update('web', digestOf(await host.look()))

    expect(code).toBe(expected)
    expect(lines.at(-1)).toBe(last)
  })

  test.each([
    ['another stack', 'other', 76],
    ['no stack', '', 79],
    ['what is no name', '../web', 79],
  ])('of %s does nothing', async (_, project, expected) => {
    const host = await stacks(WEB)
    const digest = digestOf(await host.look())
    await host.write('calls', '')

    const { code } = await host.update(project, digest)

    expect(code).toBe(expected)
    expect(await host.file('calls')).not.toMatch(/^(pull|tag)| up /m)
  })
})
