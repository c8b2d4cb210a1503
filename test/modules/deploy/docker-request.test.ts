import type Docker from 'dockerode'
import { expect, test } from 'vitest'
import { type Inspected, idsFrom } from '../../../modules/deploy/docker/engine.ts'
import {
  BASE_LABEL,
  helperRequest,
  isMounted,
  requestLike,
  replacementObstacle,
} from '../../../modules/deploy/docker/request.ts'

const ID = `${'a1'.repeat(6)}${'0'.repeat(52)}`
const SHORT = ID.slice(0, 12)

type Given = {
  config?: Partial<Inspected['Config']>
  host?: Docker.HostConfig
  networks?: Record<string, object>
  mounts?: object[]
}

/** Returns the parts of the engine's answer about a container that the code reads. */
function inspected({ config = {}, host = {}, networks = {}, mounts = [] }: Given = {}): Inspected {
  const text = JSON.stringify({
    Id: ID,
    Name: '/panel',
    Image: 'sha256:base',
    Config: {
      Hostname: SHORT,
      Env: ['A=1'],
      Labels: {},
      Image: 'panel:1',
      Entrypoint: ['/panel'],
      Cmd: ['-v'],
      ...config,
    },
    HostConfig: { NetworkMode: 'front', Binds: null, ...host },
    NetworkSettings: { Networks: networks },
    Mounts: mounts,
  })
  return JSON.parse(text)
}

const ENDPOINT = {
  IPAMConfig: null,
  Links: null,
  Aliases: null,
  NetworkID: 'id',
  IPAddress: '172.18.0.2',
  MacAddress: 'x',
}

test('a request repeats ports, settings and labels, and asks for no restart policy', () => {
  const config = {
    ExposedPorts: { '8080/tcp': {} },
    Labels: { 'traefik.enable': 'true', [BASE_LABEL]: 'sha256:older' },
    User: '1000:1000',
    WorkingDir: '/srv',
  }
  const host = {
    PortBindings: { '8080/tcp': [{ HostIp: '127.0.0.1', HostPort: '80' }] },
    RestartPolicy: { Name: 'always' },
    CapDrop: ['ALL'],
    Devices: [{ PathOnHost: '/dev/null', PathInContainer: '/dev/x', CgroupPermissions: 'rwm' }],
    LogConfig: { Type: 'journald', Config: { tag: 'panel' } },
    Dns: ['10.0.0.1'],
  }

  const { create } = requestLike(inspected({ config, host }), 'panel:2', 'panel.new')

  expect(create).toMatchObject({
    ...config,
    Labels: { 'traefik.enable': 'true' },
    name: 'panel.new',
    Image: 'panel:2',
    Hostname: SHORT,
    Env: ['A=1'],
    Entrypoint: ['/panel'],
    Cmd: ['-v'],
    HostConfig: { ...host, RestartPolicy: { Name: 'no' } },
  })
  expect(create.Labels).not.toHaveProperty([BASE_LABEL])
})

test('a request contains the first network, and the others follow, each with its requested settings only', () => {
  const networks = {
    back: { ...ENDPOINT, NetworkID: 'b', Aliases: ['api', SHORT], Links: ['db:db'], DriverOpts: { a: 'b' } },
    front: { ...ENDPOINT, NetworkID: 'f', IPAMConfig: { IPv4Address: '172.18.0.9' }, Aliases: [SHORT, 'panel'] },
    plain: ENDPOINT,
  }
  for (const mode of ['front', 'f']) {
    const request = requestLike(inspected({ networks, host: { NetworkMode: mode } }), 'i', 'n')

    expect(request.create.NetworkingConfig).toEqual({
      EndpointsConfig: { front: { IPAMConfig: { IPv4Address: '172.18.0.9' }, Aliases: ['panel'] } },
    })
    expect(request.networks).toEqual([
      { name: 'back', endpoint: { Links: ['db:db'], Aliases: ['api'], DriverOpts: { a: 'b' } } },
      { name: 'plain', endpoint: {} },
    ])
  }
})

test.each([
  ['default', 'bridge', true],
  ['bridge', 'bridge', true],
  ['host', 'host', false],
  ['none', 'none', true],
  ['container:other', 'other', false],
])(
  'a request in network mode %s has no network settings, and a host name only if the container has its own',
  (mode, name, named) => {
    const { create, networks } = requestLike(
      inspected({ networks: { [name]: ENDPOINT }, host: { NetworkMode: mode } }),
      'i',
      'n',
    )

    expect(create).not.toHaveProperty('NetworkingConfig')
    expect(networks).toEqual([])
    expect('Hostname' in create).toBe(named)
  },
)

const MOUNTS = [
  { Type: 'volume', Name: 'abc', Destination: '/data', RW: true },
  { Type: 'volume', Name: 'named', Destination: '/named', RW: true },
  { Type: 'volume', Name: 'bare', Destination: '/bare', RW: false },
  { Type: 'bind', Source: '/srv', Destination: '/srv', RW: true },
]

test('unnamed volumes are mounted by the names that the engine gave them', () => {
  const host: Docker.HostConfig = {
    Binds: ['/srv:/srv'],
    Mounts: [
      { Type: 'volume', Source: 'named', Target: '/named' },
      { Type: 'volume', Source: '', Target: '/bare' },
    ],
  }

  const { create } = requestLike(inspected({ host, mounts: MOUNTS }), 'i', 'n')

  expect(create.HostConfig).toMatchObject({
    Binds: ['/srv:/srv', 'abc:/data', 'bare:/bare:ro'],
    Mounts: [{ Type: 'volume', Source: 'named', Target: '/named' }],
  })
})

test('a volume over a folder, or over a parent, hides the files of the image there', () => {
  const at = inspected({ mounts: MOUNTS })

  expect(['/data', '/data/modules', '/srv/x/y'].map((folder) => isMounted(at, folder))).toEqual([true, true, true])
  expect(['/database', '/', '/modules'].map((folder) => isMounted(at, folder))).toEqual([false, false, false])
})

test('the helper runs as root, with the files of the service’s container and without network', () => {
  const host = { Binds: ['/run/docker.sock:/run/docker.sock'], GroupAdd: ['999'], CapDrop: ['ALL'], Privileged: false }

  const request = helperRequest(inspected({ host, mounts: MOUNTS }), 'panel:2', 'd', ['/node', '/panel', 'swap'])

  expect(request).toMatchObject({
    name: 'panel.helper',
    User: '0:0',
    Entrypoint: ['/node'],
    Cmd: ['/panel', 'swap'],
    HostConfig: {
      Binds: expect.arrayContaining(['/run/docker.sock:/run/docker.sock', 'abc:/data']),
      NetworkMode: 'none',
      RestartPolicy: { Name: 'on-failure', MaximumRetryCount: 20 },
      GroupAdd: ['999'],
    },
  })
  expect(request.HostConfig).not.toHaveProperty('CapDrop')
})

test('the mounts, the control group or the host name identify the container, each without the others', () => {
  const other = 'b'.repeat(64)
  const mountinfo = [
    `1 2 8:1 /lib/docker/containers/${ID}/resolv.conf /etc/resolv.conf rw - ext4 /dev/a rw`,
    `1 2 8:1 /lib/docker/containers/${ID}/hostname /etc/hostname rw - ext4 /dev/a rw`,
    `1 2 8:1 /lib/docker/containers/${other}/data /data rw - ext4 /dev/a rw`,
  ].join('\n')

  expect(idsFrom(mountinfo, '0::/\n', 'panel')).toEqual([ID])
  expect(idsFrom('', `5:cpu:/docker/${ID}\n1:x:/docker/${ID}\n`, 'panel')).toEqual([ID])
  expect(idsFrom('', `0::/system.slice/docker-${ID}.scope\n`, 'panel')).toEqual([ID])
  expect(idsFrom('', '0::/\n', SHORT)).toEqual([SHORT])
  expect(idsFrom('', '0::/\n', 'panel')).toEqual([])
})

test('a container is not replaced if its data would be lost, or if it is removed when it stops', () => {
  const at = inspected({ mounts: MOUNTS })
  const inside = {
    dataDir: '/data',
    databaseUrl: 'file:/data/panel%20.db',
    modulesDir: '/modules',
    secretKey: undefined,
  }
  const key = Buffer.alloc(32)

  expect(replacementObstacle(at, inside)).toBeUndefined()
  expect(
    replacementObstacle(at, { ...inside, dataDir: '/home', databaseUrl: 'libsql://db.example', secretKey: key }),
  ).toBeUndefined()
  expect(replacementObstacle(at, { ...inside, dataDir: '/home' })).toContain('/home')
  expect(replacementObstacle(at, { ...inside, databaseUrl: 'file:/tmp/panel.db' })).toContain('/tmp/panel.db')
  expect(replacementObstacle(inspected({ mounts: MOUNTS, host: { AutoRemove: true } }), inside)).toContain('--rm')
  const memory = inspected({
    mounts: [...MOUNTS, { Type: 'tmpfs', Destination: '/data/modules', RW: true }],
    host: { Tmpfs: { '/srv/memory/': '' } },
  })
  for (const modulesDir of ['/data/modules', '/data/modules/a', '/srv/memory/modules'])
    expect(replacementObstacle(memory, { ...inside, modulesDir })).toContain('tmpfs')
  for (const modulesDir of ['/data/modules-too', '/srv/modules', '/named', '/elsewhere'])
    expect(replacementObstacle(memory, { ...inside, modulesDir })).toBeUndefined()
})
