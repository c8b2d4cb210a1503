import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { HEALTH, probeWords } from '../../../functions/protection/health-script.ts'
import { probeName } from '../../../functions/protection/probe-script.ts'
import type { Probe } from '../../../functions/protection/protection.ts'
import { freePort } from '../../free-port.ts'
import { field, type Inside, inside, type Look, look, ofKind, shells } from './look.ts'

const SYSTEMD = { 'run/systemd/system/x': '' }
const DOCKERD = { 'proc/77/comm': 'dockerd\n' }

/** Every line has the form that the reader of a look accepts. */
function expectWellFormed({ lines, text, code }: Look) {
  expect(code).toBe(0)
  expect(text.endsWith('\nend\n') || text === 'end\n').toBe(true)
  expect(lines.length).toBeLessThanOrEqual(500)
  for (const line of lines.slice(0, -1)) expect(line).toMatch(/^[a-z]+\t[ -~]{1,200}\t(good|bad)\t[ -~]{1,100}$/)
}

/** systemctl with these units, each `name load active sub` and the state of its file. */
function systemctl(units: [unit: string, file: string][]): string {
  const listed = units.map(([unit]) => `${unit} A description`).join('\n')
  const shown = units
    .map(([unit, file]) => `Id=${unit.replace('\u25cf ', '').split(' ')[0]}\nUnitFileState=${file}\n`)
    .join('\n')
  return `case $1 in
    list-units) cat <<'X'\n${listed}\nX\n;;
    show) cat <<'X'\n${shown}\nX\n;;
    is-active) case $3 in rig-a) echo active ;; *) echo inactive; exit 3 ;; esac ;;
  esac`
}

const socketLine = (port: number, inode: number, state: string, address = '00000000') =>
  `   0: ${address}:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0`

test.for(shells)('an empty container gives nothing but the end, in %s', async (shell) => {
  const found = await look({}, [], shell)

  expect(found).toMatchObject({ code: 0, text: 'end\n' })
})

test.for(shells)('names enabled services that run and every failed unit, in %s', async (shell) => {
  const units: [string, string][] = [
    ['nginx.service loaded active running', 'enabled'],
    ['getty@tty1.service loaded active running', 'enabled-runtime'],
    ['dev-x\\x2dy.service loaded active running', 'generated'],
    ['dbus.service loaded active running', 'static'],
    ['session-1.scope loaded active running', ''],
    ['\u25cf data.mount loaded failed failed', 'enabled'],
    ['old.service not-found failed failed', ''],
  ]

  const found = await look({ files: SYSTEMD, programs: { systemctl: systemctl(units) } }, [], shell)

  expectWellFormed(found)
  expect(ofKind(found, 'unit')).toEqual([
    'unit\tdata.mount\tbad\tfailed failed',
    'unit\tdev-x\\x2dy.service\tgood\tactive running',
    'unit\tgetty@tty1.service\tgood\tactive running',
    'unit\tnginx.service\tgood\tactive running',
    'unit\told.service\tbad\tfailed failed',
  ])
})

test('does not ask systemd where another init runs', async () => {
  const found = await look({ programs: { systemctl: systemctl([['a.service loaded active running', 'enabled']]) } })

  expect(found.text).toBe('end\n')
})

test.for(shells)('names listening ports below the random ones with their programs, in %s', async (shell) => {
  const found = await look(
    {
      files: {
        'proc/sys/net/ipv4/ip_local_port_range': '32768\t60999\n',
        'proc/net/tcp': `  sl  local_address\n${[socketLine(443, 1, '0A'), socketLine(40_000, 2, '0A'), socketLine(8080, 3, '01'), socketLine(6010, 4, '0A', '0100007F'), socketLine(22, 5, '0A')].join('\n')}\n`,
        'proc/net/tcp6': `${socketLine(443, 6, '0A', '0'.repeat(32))}\n${socketLine(53, 7, '0A', '0'.repeat(32))}\n`,
        'proc/net/udp': `${[socketLine(53, 8, '07'), socketLine(17_233, 9, '07'), socketLine(1194, 10, '07'), socketLine(111, 11, '07'), socketLine(845, 12, '07')].join('\n')}\n16370: ${socketLine(69, 13, '07').slice(6)}\n`,
      },
      sockets: {
        10: { comm: 'nginx\n', inodes: [1, 6, 2] },
        11: { comm: 'sshd\n', inodes: [4, 5] },
        12: { comm: 'pihole-FTL\n', inodes: [7, 8, 9] },
        13: { comm: 'openvpn\n', inodes: [10] },
        14: { comm: 'rpcbind\n', inodes: [11, 12] },
      },
    },
    [],
    shell,
  )

  expectWellFormed(found)
  expect(ofKind(found, 'socket')).toEqual([
    'socket\ttcp/22\tgood\tsshd',
    'socket\ttcp/443\tgood\tnginx',
    'socket\ttcp/53\tgood\tpihole-FTL',
    'socket\tudp/111\tgood\trpcbind',
    'socket\tudp/1194\tgood\topenvpn',
    'socket\tudp/53\tgood\tpihole-FTL',
    'socket\tudp/69\tgood\t-',
  ])
})

const CONTAINERS = [
  '/web|running|0|unless-stopped|false|healthy',
  '/ill|running|0|always|false|unhealthy',
  '/dead|exited|139|always|false|',
  '/loop|restarting|1|on-failure|false|',
  '/done|exited|0|on-failure|false|',
  '/once|exited|1|no|false|',
  '/temporary|running|0|no|true|',
  '/plain|running|0|no|false|',
]
const engine = (containers: string[]) => `case $1 in
  ps) for id in ${containers.map((_, index) => (index + 10).toString(16).padStart(64, 'a')).join(' ')}; do echo $id; done ;;
  inspect) cat <<'X'\n${containers.join('\n')}\nX\n;;
esac`

test.for(shells)('tells running containers from those that should run, in %s', async (shell) => {
  const found = await look(
    {
      files: { ...DOCKERD, 'var/lib/containers/storage/x': '' },
      programs: { docker: engine(CONTAINERS), podman: engine(CONTAINERS.slice(0, 1)) },
    },
    [],
    shell,
  )

  expectWellFormed(found)
  expect(ofKind(found, 'docker')).toEqual([
    'docker\t(daemon)\tgood\t-',
    'docker\tdead\tbad\texited 139',
    'docker\till\tbad\tunhealthy',
    'docker\tloop\tbad\trestarting 1',
    'docker\tplain\tgood\trunning',
    'docker\tweb\tgood\trunning healthy',
  ])
  expect(ofKind(found, 'podman')).toEqual(['podman\t(daemon)\tgood\t-', 'podman\tweb\tgood\trunning healthy'])
})

test('does not ask Docker where its daemon does not run, nor Podman that was never used', async () => {
  const asked = 'echo asked >>"$FOLDER/asked"'
  const container = { files: { 'etc/systemd/system/docker.service': '' }, programs: { docker: asked, podman: asked } }
  const found = await look(container)

  expect(found.text).toBe('docker\t(daemon)\tbad\tnot running\nend\n')
})

test('an older Podman is asked without health', async () => {
  const podman = `case "$*" in *State.Health*) exit 125 ;; esac\n${engine(['web|running|0||false|'])}`

  const found = await look({ files: { 'var/lib/containers/storage/x': '' }, programs: { podman } })

  expect(ofKind(found, 'podman')).toEqual(['podman\t(daemon)\tgood\t-', 'podman\tweb\tgood\trunning'])
})

test.for(shells)('the checksum of packages changes with them, in %s', async (shell) => {
  const [one, same, other] = await Promise.all(
    ['Package: a\n', 'Package: a\n', 'Package: b\n'].map((status) =>
      look({ files: { 'var/lib/dpkg/status': status } }, [], shell),
    ),
  )

  expect(one?.lines[0]).toMatch(/^packages\t-\tgood\t[0-9a-f]{64}$/)
  expect(same?.text).toBe(one?.text)
  expect(other?.text).not.toBe(one?.text)
})

test.for(shells)('asks the probes and names them as the service does, in %s', async (shell) => {
  const server = createServer().listen(0, '127.0.0.2')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const probes: Probe[] = [
    { kind: 'tcp', port: address.port },
    { kind: 'tcp', port: await freePort() },
    { kind: 'unit', name: 'rig-a' },
    { kind: 'unit', name: 'rig-b.service' },
    { kind: 'command', command: ['sh', '-c', 'exit 3'] },
    { kind: 'command', command: ['test', '$(touch x); a\n\tb * é', '=', '$(touch x); a\n\tb * é'] },
    { kind: 'command', command: ['tcp', '1'] },
    { kind: 'command', command: ['echo', 'x'.repeat(500), 'y'.repeat(500)] },
    { kind: 'http', url: 'http://127.0.0.1/', status: 200 },
  ]
  const files = { ...SYSTEMD, 'proc/net/tcp': `${socketLine(address.port, 1, '0A', '0200007F')}\n` }

  const found = await look({ files, programs: { systemctl: systemctl([]) } }, probeWords(probes), shell)

  expectWellFormed(found)
  const answers = [
    'good\tconnected',
    'bad\trefused',
    'good\tactive',
    'bad\tinactive',
    'bad\texit 3',
    'good\texit 0',
    'bad\texit 127',
    'good\texit 0',
  ]
  const expected = answers.map((answer, index) => `probe\t${probeName(probes[index] as Probe)}\t${answer}`)
  expect(ofKind(found, 'probe')).toEqual(expected.sort())
})

test('words that are no probes give no look', async () => {
  for (const words of [['command', '3', 'a'], ['tcp'], ['other', 'x'], ['command', 'x', 'y'], ['command', '0', 'a']]) {
    const { code, text } = await look({}, words)
    expect([code, text]).toEqual([69, ''])
  }
})

test.for(shells)('hostile texts cannot break a line, in %s', async (shell) => {
  const hostile = 'a\\tgood\\tb\\nend\\nunit\\tfake\\tbad\\t\\033[31m\\000\\377'
  const long = 'head -c 1000000 /dev/zero | tr "\\000" "x"'
  const systemctl = `printf '${hostile} loaded failed failed\\n-x.service;reboot loaded failed failed\\n$(id).service loaded failed failed\\n'; ${long}; echo .service loaded failed failed`
  const docker = `case $1 in ps) echo ${'a'.repeat(64)}; printf '${hostile}\\n'; ${long} ;; inspect) printf '/${hostile}|exited|1|always|false|\\n'; ${long}; echo '|exited|1|always|false|'; printf '/b\\tc\\001|exited|1|always|false|\\n' ;; esac`
  const container: Inside = {
    files: { ...SYSTEMD, ...DOCKERD, 'proc/net/tcp': `${socketLine(80, 1, '0A')}\n` },
    programs: { systemctl, docker },
    sockets: { 10: { comm: 'a\tgood\x1b[31m\x00\xff\nend\n', inodes: [1] } },
  }

  const found = await look(container, ['unit', 'a\nend\nunit\tfake'], shell)

  expectWellFormed(found)
  expect(found.lines.filter((line) => line === 'end')).toHaveLength(1)
  expect(ofKind(found, 'unit').filter((line) => field(line, 1) === 'fake')).toEqual([])
  expect(ofKind(found, 'socket')[0]).toMatch(/^socket\ttcp\/80\tgood\ta good\?/)
  expect(ofKind(found, 'docker').some((line) => field(line, 1) === 'b?c?')).toBe(true)
})

test.for(shells)('hundreds of units and containers fit, and none that is bad is lost, in %s', async (shell) => {
  const units = Array.from({ length: 900 }, (_, index): [string, string] =>
    index % 9 === 0
      ? [`u${index}.service loaded failed failed`, '']
      : [`u${index}.service loaded active running`, 'enabled'],
  )
  const containers = Array.from({ length: 300 }, (_, index) => `/c${index}|exited|1|always|false|`)

  const found = await look(
    { files: { ...SYSTEMD, ...DOCKERD }, programs: { systemctl: systemctl(units), docker: engine(containers) } },
    [],
    shell,
  )

  expectWellFormed(found)
  expect(found.lines).toHaveLength(500)
  expect(found.lines.filter((line) => field(line, 2) === 'bad')).toHaveLength(400)
})

test('programs that never end are cut, and the rest is told', { timeout: 60_000 }, async () => {
  // A child keeps the output open.
  const stuck = 'echo a.service loaded active running x; sleep 45; exit 0'
  const probes: Probe[] = [
    { kind: 'command', command: ['sleep', '45'] },
    { kind: 'command', command: ['sh', '-c', 'trap "" TERM; sleep 45; sleep 45'] },
    { kind: 'unit', name: 'a' },
  ]
  const files = { ...SYSTEMD, ...DOCKERD, 'var/lib/containers/storage/x': '', 'var/lib/dpkg/status': 'a' }
  const programs = { systemctl: stuck, docker: stuck, podman: 'yes' }

  const looks = await Promise.all(shells.map((shell) => look({ files, programs }, probeWords(probes), shell)))

  for (const found of looks) {
    expectWellFormed(found)
    expect(found.ms).toBeLessThan(20_000)
    expect(found.lines.sort()).toEqual([
      'docker\t(daemon)\tbad\ttimeout',
      'end',
      expect.stringMatching(/^packages\t/),
      'podman\t(daemon)\tbad\ttimeout',
      'probe\tcommand sh -c trap "" TERM; sleep 45; sleep 45\tbad\ttimeout',
      'probe\tcommand sleep 45\tbad\ttimeout',
      expect.stringMatching(/^probe\tunit a\tbad\t/),
      'unit\t(manager)\tbad\ttimeout',
    ])
  }
})

test('leaves no file behind', async () => {
  const { folder, bin } = await inside({})
  const child = spawn('sh', ['-c', HEALTH], {
    cwd: folder,
    env: { PATH: `${bin}:${process.env.PATH}`, TMPDIR: folder },
  })

  await once(child, 'close')

  expect((await readdir(folder)).sort()).toEqual(['bin', 'root'])
})
