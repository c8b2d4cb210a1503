import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { sawAll, outdatedOf } from '../../../functions/restarts/outdated-services.ts'
import { SERVICES } from '../../../functions/restarts/services-script.ts'
import { temporaryFolder } from '../../db/folder.ts'

// test/host/restarts.test.ts covers it with real processes.

const run = promisify(execFile)

interface Process {
  pid: number
  name: string
  unit?: string
  parent?: number
  /** Its numbers in its own and in outer pid namespaces. */
  numbers?: string
  /** Lines of its maps; a missing file, or a folder, which nobody can read as a file. */
  maps: readonly string[] | 'missing' | 'folder' | 'silent'
}

interface World {
  processes: readonly Process[]
  /** The active services with their main processes. */
  units?: Record<string, number>
  needrestart?: string
  systemctl?: string
  uid?: number
  /** The package manager of the target, and the programs that tell who owns a file. */
  manager?: string
  programs?: Record<string, string>
  /** Whether no program may take longer than half a second. */
  hurry?: boolean
}

const LIBRARY = '/usr/lib/librig.so.1'
const mapping = (file: string, rights = 'r-xp') => `7f00-7f01 ${rights} 00000000 fe:01 4711          ${file}`
const OLD = [mapping('/usr/bin/rig'), mapping(`${LIBRARY} (deleted)`), mapping('[vdso]')]

/** Runs the look over a folder that stands for /proc, with stand-ins, and returns the lines of its section. */
async function look({
  processes,
  units = {},
  needrestart,
  systemctl,
  uid = 0,
  manager = 'apt-get',
  programs = {},
  hurry = false,
}: World): Promise<string[]> {
  const folder = await temporaryFolder()
  const [proc, bin, systemd] = ['proc', 'bin', 'systemd'].map((name) => join(folder, name)) as [string, string, string]
  for (const each of [bin, systemd, proc]) await mkdir(each)
  await Promise.all(
    processes.map(async ({ pid, name, unit = 'x.slice', parent = 1, numbers = String(pid), maps }) => {
      const own = join(proc, String(pid))
      await mkdir(own, { recursive: true })
      await writeFile(join(own, 'status'), `Name:\t${name}\nPPid:\t${parent}\nNSpid:\t${numbers}\n`)
      await writeFile(join(own, 'cgroup'), `0::/system.slice/${unit}\n`)
      if (maps === 'folder') await mkdir(join(own, 'maps'))
      else if (maps === 'silent') await run('mkfifo', [join(own, 'maps')])
      else if (maps !== 'missing') await writeFile(join(own, 'maps'), maps.map((line) => `${line}\n`).join(''))
    }),
  )
  const put = async (name: string, body: string) => {
    await writeFile(join(bin, name), `#!/bin/sh\n${body}\n`)
    await chmod(join(bin, name), 0o755)
  }
  const listed = Object.entries(units).map(([name, pid]) => [`${name}.service`, String(pid)] as const)
  await put('id', `echo ${uid}`)
  for (const [name, body] of Object.entries({ 'dpkg-query': 'exit 1', ...programs })) await put(name, body)
  await put(
    'systemctl',
    systemctl ??
      `case $1 in
  list-units) printf '%s loaded active running\\n' ${listed.map(([name]) => `'${name}'`).join(' ')} ;;
  show) printf 'Id=%s\\nMainPID=%s\\n\\n' ${listed.flat().join(' ')} ;;
esac`,
  )
  if (needrestart !== undefined) await put('needrestart', needrestart)
  const text = SERVICES.replaceAll('/proc', proc)
    .replaceAll('/run/systemd/system', systemd)
    .replaceAll(/timeout -k 1 \d+/g, hurry ? 'timeout -k 0.1 0.5' : 'timeout -k 1 60')
  const { stdout } = await run('sh', ['-c', `section() { cat; }\nmanager=${manager}\n${text}`], {
    env: { PATH: `${bin}:/usr/bin:/bin`, LC_ALL: 'C' },
    maxBuffer: 10_000_000,
  })
  return stdout.split('\n').filter((line) => line !== '')
}

const service = (pid: number, name: string, maps: Process['maps'] = OLD): Process => ({
  ...{ pid, name, unit: `${name}.service`, maps },
})

test('services, programs and process 1 are told, and that nothing was left out', async () => {
  const processes = [
    { pid: 1, name: 'systemd', unit: 'init.scope', parent: 0, maps: OLD },
    service(20, 'nginx'),
    { pid: 21, name: 'stray', maps: OLD },
    service(22, 'current', [mapping(LIBRARY)]),
    service(23, 'data', [mapping(`${LIBRARY} (deleted)`, 'r--p')]),
  ]
  expect(await look({ processes, units: { nginx: 20, current: 22, data: 23 } })).toEqual([
    `init systemd 1 - ${LIBRARY}`,
    `service nginx 20 - ${LIBRARY}`,
    `process stray 21 - ${LIBRARY}`,
    'whole',
  ])
})

test('memory with the name of a library is no removed file', async () => {
  const forged = ['/memfd:a /usr/lib/librig.so', '/tmp/a /usr/lib/b.so', '/dev/zero', '/home/a/usr/lib/b.so']
  const maps = forged.map((file) => mapping(`${file} (deleted)`))

  expect(await look({ processes: [service(20, 'nginx', maps)], units: { nginx: 20 } })).toEqual(['whole'])
})

test('a process of an inner pid namespace is not one of this target', async () => {
  const processes = [{ ...service(20, 'nginx'), numbers: '20\t1' }, service(21, 'cron')]

  expect(await look({ processes, units: { nginx: 20, cron: 21 } })).toEqual([`service cron 21 - ${LIBRARY}`, 'whole'])
})

test('a process that has ended since takes nothing from the list', async () => {
  const processes = [service(20, 'nginx', 'missing'), service(21, 'cron')]

  expect(await look({ processes, units: { cron: 21 } })).toEqual([`service cron 21 - ${LIBRARY}`, 'whole'])
})

test('where nothing is found, systemd is not asked; where it does not answer, that is told', async () => {
  const current = service(21, 'cron', [mapping(LIBRARY)])
  const nothing = await look({ processes: [service(20, 'nginx', 'missing'), current], systemctl: 'exec sleep 60' })
  const silent = await look({ processes: [service(20, 'nginx'), current], systemctl: 'exit 1' })

  expect(nothing).toEqual(['whole'])
  expect(silent).toEqual([`process nginx 20 - ${LIBRARY}`])
})

test('maps that cannot be read are told, and the others are read', async () => {
  const processes = [service(20, 'cron', 'folder'), service(21, 'nginx')]

  expect(await look({ processes, units: { nginx: 21 } })).toEqual([`service nginx 21 - ${LIBRARY}`])
})

test('maps that never end hold nothing up, and are told', async () => {
  const processes = [service(20, 'cron', 'silent'), service(21, 'nginx')]

  expect(sawAll(await look({ processes, units: { nginx: 21 }, hurry: true }))).toBe(false)
})

test('an account that sees its own processes alone never has the whole', async () => {
  expect(sawAll(await look({ processes: [service(20, 'nginx')], units: { nginx: 20 }, uid: 1000 }))).toBe(false)
})

test('a target that shows no process has not been seen', async () => {
  expect(await look({ processes: [] })).toEqual([])
})

test('programs that crowd a service out of the list are told', async () => {
  const many = (count: number, name: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => ({ pid: 2_000 + n, name: name(n), maps: OLD }))
  const last = service(9_000, 'nginx')
  const units = { nginx: 9_000 }
  const names = await look({ processes: [...many(101, (n) => `p${n}`), last], units })
  const numbers = await look({ processes: [...many(1_001, () => 'p'), last], units })
  const long = Array.from({ length: 8 }, (_, n) => mapping(`/usr/${String(n).repeat(3_900)} (deleted)`))
  const bytes = await look({ processes: [...many(80, () => 'p').map((one) => ({ ...one, maps: long })), last], units })

  expect(names).toHaveLength(100)
  for (const found of [names, numbers, bytes]) {
    expect(found.join('\n')).not.toContain('nginx')
    expect(sawAll(found)).toBe(false)
  }
  expect(outdatedOf(names, 'host')).toHaveLength(100)
})

test('needrestart adds only services that systemd knows as active, and its failure is told', async () => {
  const of = (needrestart: string, units: Record<string, number> = { cron: 21, 'postgresql@15-main': 22 }) =>
    look({ processes: [service(21, 'cron')], units, needrestart })
  const names = ['cron', 'postgresql@15-main', 'apt-daily-upgrade', 'elsewhere', '-x'].map((name) => `${name}.service`)
  const answer = ['NEEDRESTART-VER: 3.6', ...names.map((name) => `NEEDRESTART-SVC: ${name}`), 'NEEDRESTART-SVC: a b']
  const printing = `printf '%s\\n' ${answer.map((line) => `'${line}'`).join(' ')}`
  const found = [`service cron 21 - ${LIBRARY}`, 'service postgresql@15-main 0 - needrestart']

  expect(await of(printing)).toEqual([...found, 'whole'])
  expect(await of(`${printing}; exit 1`)).toEqual(found)
  expect(sawAll(await of(printing, {}))).toBe(false)
})

test('needrestart that does not end is ended and told', async () => {
  const processes = [service(21, 'cron')]

  expect(sawAll(await look({ processes, needrestart: 'exec sleep 60', hurry: true }))).toBe(false)
})

/** Answers as `rpm -qf` and `rpm -q` of rpm 4.18 do; what nobody owns is on its output too. */
const RPM = `for last; do :; done
case $1 in
  -qf)
    for each; do
      case $each in
        ${LIBRARY} | /usr/bin/rig) echo rig-libs ;;
        /lib*) echo "file $each is not owned by any package" ;;
        /*) echo "error: file $each: No such file or directory" >&2 ;;
      esac
    done ;;
  *) [ "$last" = rig-libs ] && printf '= rig-libs %s\\n' ${LIBRARY} /usr/bin/rig '/usr/a b' ;;
esac`
const APK = `[ "$1 $2" = 'info --who-owns' ] || exit 9
shift 2
for each; do
  case $each in
    ${LIBRARY}) echo "$each is owned by rig-libs-3.3.2-r0" ;;
    *) echo "ERROR: $each: Could not find owner package" >&2 ;;
  esac
done`
const PACMAN = `[ "$1" = -Qo ] || exit 9
for each; do
  case $each in
    ${LIBRARY} | /lib/librig.so.1) echo "$each is owned by rig-libs 1:3.3.2-1" ;;
    /*) echo "error: No package owns $each" >&2 ;;
  esac
done`

test.each([
  ['dnf', { rpm: RPM }],
  ['zypper', { rpm: RPM }],
  ['apk', { apk: APK }],
  ['pacman', { pacman: PACMAN }],
] as const)('%s tells which package the replaced file belongs to', async (manager, programs) => {
  const versioned = [mapping(`${LIBRARY}.0.4 (deleted)`)]
  const processes = [
    service(20, 'nginx'),
    service(21, 'cron', versioned),
    service(22, 'own', [mapping('/opt/own.so (deleted)')]),
  ]

  expect(await look({ manager, programs, processes, units: { nginx: 20, cron: 21, own: 22 } })).toEqual([
    `service nginx 20 rig-libs ${LIBRARY}`,
    `service cron 21 rig-libs ${LIBRARY}.0.4`,
    'service own 22 - /opt/own.so',
    'whole',
  ])
})

test.each([
  ['dnf', 'rpm'],
  ['apk', 'apk'],
  ['pacman', 'pacman'],
])('the database of %s that does not answer takes nothing else from the list', async (manager, program) => {
  const processes = [service(20, 'nginx')]
  const world = { manager, processes, units: { nginx: 20 }, hurry: true }

  expect(await look({ ...world, programs: { [program]: 'exec sleep 60' } })).toEqual([
    `service nginx 20 - ${LIBRARY}`,
    'whole',
  ])
})

test.each([
  [
    'dnf',
    { rpm: `echo "$each"; printf '= rig\\033[1m %s\\n= a b ${LIBRARY}\\n= -rf ${LIBRARY}\\n' ${LIBRARY}; echo -rf` },
  ],
  ['apk', { apk: `echo '${LIBRARY} is owned by -x-1-r0'; echo '${LIBRARY} is owned by a b-1-r0'` }],
  ['pacman', { pacman: `echo '${LIBRARY} is owned by $(x) 1-1'; echo '${LIBRARY} is owned by -x 1-1'` }],
] as const)('a name that no package of %s may have is none', async (manager, programs) => {
  const processes = [service(20, 'nginx')]

  expect(await look({ manager, programs, processes, units: { nginx: 20 } })).toEqual([
    `service nginx 20 - ${LIBRARY}`,
    'whole',
  ])
})
