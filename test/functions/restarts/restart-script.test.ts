import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { RESTART } from '../../../functions/restarts/restart-script.ts'
import { temporaryFolder } from '../../db/folder.ts'

// test/host/restarts.test.ts covers it with real services.

const run = promisify(execFile)

/** The answer of `systemctl show`, as lines. */
const shown = (properties: Record<string, string | number>) =>
  Object.entries({
    LoadState: 'loaded',
    ActiveState: 'active',
    Type: 'simple',
    ActiveEnterTimestampMonotonic: 100,
    ...properties,
  })
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')

/**
 * Runs `RESTART` with a systemctl of its own: `show` prints the file of a unit, then calls `asked <count>`, and `restart`
 * calls `restarting`. Both may change the files. Nothing waits.
 */
async function restart(
  services: readonly string[],
  units: Record<string, string>,
  { restarting = '', asked = '', date = 'echo 1000' }: { restarting?: string; asked?: string; date?: string } = {},
) {
  const folder = await temporaryFolder()
  const bin = join(folder, 'bin')
  await mkdir(bin)
  for (const [name, text] of Object.entries(units)) await writeFile(join(folder, `${name}.service`), `${text}\n`)
  const put = async (name: string, body: string) => {
    await writeFile(join(bin, name), `#!/bin/sh\n${body}\n`)
    await chmod(join(bin, name), 0o755)
  }
  await put('sleep', 'exit 0')
  await put('date', `cd ${folder}; ${date}`)
  await put(
    'systemctl',
    `cd ${folder}
echo "$@" >>calls
verb=$1
asked=$(echo "$4" | tr , '|')
while [ "$1" != -- ]; do shift; done
shift
case $verb in
  show)
    count=$(grep -c ^show calls)
    ${asked || ':'}
    for unit; do
      [ -e "$unit" ] || printf 'Id=%s\\nLoadState=not-found\\n' "$unit" >"$unit"
      grep -E "^($asked)=" "$unit"
      echo
    done ;;
  restart) ${restarting || ':'} ;;
esac`,
  )
  const text = RESTART.replaceAll('/run/systemd/system', folder).replaceAll('timeout -k 1 10', 'timeout -k 1 60')
  const ended = await run('sh', ['-c', text, 'restart', '', ...services], {
    env: { PATH: `${bin}:/usr/bin:/bin` },
  }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  )
  const calls = (await readFile(join(folder, 'calls'), 'utf8').catch(() => '')).split('\n')
  return { ...ended, restarts: calls.filter((line) => line.startsWith('restart ')), asks: calls.length }
}

/** A clock by which each question to systemd takes ten seconds. */
const SLOW = 'echo "$(($(grep -c ^show calls) * 10))"'

const write = (name: string, text: string) => `cat >${name}.service <<'END'\n${text}\nEND\n`

test('the line of a restarted service has both main processes', async () => {
  const after = shown({ Id: 'web.service', MainPID: 20, ActiveEnterTimestampMonotonic: 200 })
  const { code, stdout, restarts } = await restart(
    ['web'],
    { web: shown({ Id: 'web.service', MainPID: 10 }) },
    { restarting: write('web', after) },
  )

  expect({ code, stdout }).toEqual({ code: 0, stdout: 'web: main PID 10 -> 20, active\n' })
  expect(restarts).toEqual(['restart --no-block -- web.service'])
})

test('a service without a main process counts as restarted only if systemd has started it again', async () => {
  const web = shown({ Id: 'web.service', MainPID: 0 })
  const after = shown({ Id: 'web.service', MainPID: 0, ActiveEnterTimestampMonotonic: 200 })

  expect(await restart(['web'], { web }, { restarting: write('web', after) })).toMatchObject({
    ...{ code: 0, stdout: 'web: main PID none -> none, active\n' },
  })
  expect(await restart(['web'], { web }, { restarting: 'echo "Access denied" >&2; exit 4' })).toMatchObject({
    ...{ code: 1, stdout: 'Access denied\nweb: main PID still none, it was not restarted\n' },
  })
  expect(await restart(['web'], { web: `${web}\nJob=77` }, { date: SLOW })).toMatchObject({
    ...{
      code: 1,
      stdout: expect.stringMatching(
        /^web: main PID none -> none, it did not come back \(active, its restart has not ended\)$/m,
      ),
    },
  })
})

test('a service that starts again and again has not come back', async () => {
  const asked = `[ "$count" -lt 4 ] || { sed -i -e "s/^MainPID=.*/MainPID=$count/" -e "s/Monotonic=.*/Monotonic=$count/" web.service; }`
  const web = shown({ Id: 'web.service', MainPID: 3 })
  const { code, stdout } = await restart(['web'], { web }, { asked, date: SLOW })

  expect(code).toBe(1)
  expect(stdout).toMatch(/^web: main PID \d+ -> \d+, it did not come back \(active\)\n$/)
})

test('one that fails seconds after its start has not come back', async () => {
  const after = shown({ Id: 'web.service', MainPID: 20, ActiveEnterTimestampMonotonic: 200 })
  const failed = shown({ Id: 'web.service', MainPID: 0, ActiveState: 'failed', ActiveEnterTimestampMonotonic: 200 })
  // Two looks are before the restart; the fifth after it comes at the earliest after two seconds.
  const asked = `[ "$(grep -c "ActiveState" calls)" -lt 7 ] || ${write('web', failed)}`

  const { code, stdout } = await restart(
    ['web'],
    { web: shown({ Id: 'web.service', MainPID: 10 }) },
    { restarting: write('web', after), asked },
  )
  expect({ code, stdout }).toEqual({ code: 1, stdout: 'web: main PID 10 -> none, it did not come back (failed)\n' })
})

test.each([
  [1, { Id: 'docker.service' }, 'systemd does not say which service this is'],
  [2, { Id: 'web.service', RequiredBy: 'docker.service' }, 'systemd does not say what restarts with this service'],
])('without answer %d of systemd, nothing is restarted: Docker may go down', async (number, properties, why) => {
  const web = shown({ ...properties, MainPID: 10 })
  const { code, stdout, restarts } = await restart(['web'], { web }, { asked: `[ "$count" != ${number} ] || exit 1` })

  expect(restarts).toEqual([])
  expect({ code, stdout }).toEqual({ code: 75, stdout: `web: ${why}. Nothing was restarted.\n` })
})

test('a service that becomes Docker in between is not restarted', async () => {
  const asked = `[ "$(grep -c ActiveState calls)" -lt 2 ] || sed -i s/^Id=.*/Id=docker.service/ web.service`
  const { code, stdout, restarts } = await restart(
    ['web'],
    { web: shown({ Id: 'web.service', MainPID: 10 }) },
    { asked },
  )

  expect(restarts).toEqual([])
  expect({ code, stdout }).toEqual({ code: 1, stdout: 'web: this service is never restarted alone.\n' })
})

test.each(['RequiredBy', 'RequisiteOf', 'BoundBy', 'ConsistsOf'])(
  'a service with which systemd restarts Docker too (%s) is refused, at one remove too',
  async (kind) => {
    const cron = shown({ Id: 'cron.service', MainPID: 11 })
    const direct = shown({ Id: 'vpn.service', MainPID: 10, [kind]: 'shop.service docker.service' })
    const first = await restart(['cron', 'vpn'], { cron, vpn: direct })
    const middle = shown({ Id: 'middle.service', MainPID: 12, [kind]: 'vpn.service docker.socket docker.service' })
    const remote = shown({ Id: 'vpn.service', MainPID: 10, [kind]: 'middle.service' })
    const second = await restart(['cron', 'vpn'], { cron, vpn: remote, middle })

    for (const { code, stdout, restarts } of [first, second]) {
      expect(restarts).toEqual([])
      expect({ code, stdout }).toEqual({
        code: 65,
        stdout:
          'vpn: docker.service would restart with this service, and is never restarted alone. Nothing was restarted.\n',
      })
    }
  },
)

test('services that require each other in a circle, and harmless ones, are restarted', async () => {
  const one = shown({ Id: 'one.service', MainPID: 10, RequiredBy: 'two.service', ConsistsOf: 'three.service' })
  const two = shown({ Id: 'two.service', MainPID: 11, RequiredBy: 'one.service' })
  const after = one.replace('MainPID=10', 'MainPID=20').replace('Monotonic=100', 'Monotonic=200')

  const { code, restarts } = await restart(['one'], { one, two }, { restarting: write('one', after) })
  expect({ code, restarts }).toEqual({ code: 0, restarts: ['restart --no-block -- one.service'] })
})

test('a program that runs to its end is left alone', async () => {
  const job = shown({ Id: 'job.service', MainPID: 10, ActiveState: 'activating', Type: 'oneshot' })

  expect(await restart(['job'], { job })).toMatchObject({
    ...{ code: 0, stdout: 'job: activating, so it was left alone\n', restarts: [] },
  })
})

test('systemd that takes ten seconds for each answer does not hold the job', async () => {
  const starting = shown({ Id: 'web.service', MainPID: 0, ActiveState: 'activating' })
  const { code, stdout, asks } = await restart(
    ['web'],
    { web: shown({ Id: 'web.service', MainPID: 10 }) },
    { restarting: write('web', starting), date: SLOW },
  )

  expect({ code, stdout }).toEqual({ code: 1, stdout: 'web: main PID 10 -> none, it did not come back (activating)\n' })
  expect(asks).toBeLessThan(20)
})
