import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { issue } from '../serve/service.ts'
import { askPackages, type Caller, caller } from './client.ts'
import { inside, rig } from './rig.ts'
import { newFolder, type Service, startService } from './service.ts'

// The service is killed while the host is in the middle of one step of a rotation, which goes on there alone.

const Rotated = z.object({
  state: z.enum(['rotated', 'waiting']),
  old_key_left: z.boolean(),
  authorized_key: z.string(),
})
const OTHER = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOther other@example'
/** A file of the host that is there while a step holds. */
const HELD = '/run/rig-held'
/** Time in which the service is killed and starts again, in seconds. */
const HOLD_S = 4

const folders: string[] = []
const services: Service[] = []
beforeAll(async () => {
  await rig('reset')
  return () => rig('reset')
})
afterAll(async () => {
  await Promise.all(services.map((each) => each.kill()))
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
})

/** Starts a service on a folder; by the password of the service account, or with what the folder has of it. */
async function start(folder: string, as: 'root' | null): Promise<{ service: Service; alice: Caller }> {
  const service = await startService({ as, folder })
  services.push(service)
  const { token } = await issue(folder, 900, { isAdmin: true })
  return { service, alice: caller(service, token, '') }
}

async function rotate(alice: Caller, body: object = {}): Promise<z.infer<typeof Rotated>> {
  const answer = await alice.post('/api/settings/ssh-key/rotate', body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return Rotated.parse(answer.body)
}

/** A point at which the host holds: the program that it runs then, the how manieth call of it, and on which side. */
interface Point {
  program: 'cp' | 'mv'
  call: number
  side: 'before' | 'after'
}

/** Makes the host hold at a point of the next rotation. A program of this name is found before the system's own. */
const holdAt = ({ program, call, side }: Point) => {
  const wait = `touch ${HELD}; sleep ${HOLD_S}; rm -f ${HELD}`
  const [before, after] = side === 'before' ? [wait, ''] : ['', wait]
  return inside(
    'host',
    `rm -f ${HELD} /run/rig-calls; cat >/usr/local/bin/${program} <<'END'
#!/bin/sh
case "$*" in *authorized_keys*) ;; *) exec /bin/${program} "$@" ;; esac
echo >>/run/rig-calls
[ "$(wc -l </run/rig-calls)" = ${call} ] || exec /bin/${program} "$@"
${before}
/bin/${program} "$@"; code=$?
${after}
exit $code
END
chmod 755 /usr/local/bin/${program}`,
  )
}
const isHeld = async () => (await inside('host', `[ -e ${HELD} ] && echo held || echo free`)) === 'held'
const works = async (alice: Caller) => (await askPackages(alice, 'lxc:101')).status

const POINTS: [string, Point][] = [
  ['before the new line is written beside the file', { program: 'cp', call: 1, side: 'before' }],
  ['before the file with the new line takes its place', { program: 'mv', call: 1, side: 'before' }],
  ['when the new line is in place, and the service has not heard of it', { program: 'mv', call: 1, side: 'after' }],
  ['when the new key is in use, before its former line is copied out', { program: 'cp', call: 2, side: 'before' }],
  ['before the former line goes', { program: 'mv', call: 2, side: 'before' }],
  ['when the former line is gone, and the service has not heard of it', { program: 'mv', call: 2, side: 'after' }],
]

/** Kills the service at the point, and checks that it works at once, when the step has ended, and after a rotation. */
async function killedAt(point: Point, from: { folder: string; service: Service; alice: Caller }, body: object) {
  await holdAt(point)
  const rotating = from.alice.post('/api/settings/ssh-key/rotate', body).catch(() => undefined)
  await vi.waitUntil(isHeld, { timeout: 30_000, interval: 50 })
  await from.service.kill()
  await rotating

  const { service, alice } = await start(from.folder, null)
  const atOnce = await works(alice)
  await vi.waitUntil(async () => !(await isHeld()), { timeout: 30_000, interval: 100 })
  const afterwards = await works(alice)
  await inside('host', `rm -f /usr/local/bin/${point.program}`)
  // Nothing that the first connection has kept in memory is left.
  await service.kill()
  const last = await start(from.folder, null)
  expect([atOnce, afterwards, await works(last.alice)]).toEqual([200, 200, 200])

  const again = await rotate(last.alice, body)
  expect(again).toMatchObject({ state: 'rotated', old_key_left: false })
  const lines = (await inside('host', 'cat /root/.ssh/authorized_keys')).split('\n')
  expect(lines).toEqual([OTHER, again.authorized_key])
  expect(await works(last.alice)).toBe(200)
  return { ...last, folder: from.folder }
}

test('killed at any step of the host, a service by key has a key that works, and the next rotation leaves one line', {
  timeout: 300_000,
}, async () => {
  const folder = await newFolder()
  folders.push(folder)
  await inside('host', `install -d -m 700 /root/.ssh && echo '${OTHER}' >/root/.ssh/authorized_keys`)
  let now = { folder, ...(await start(folder, 'root')) }
  expect(await rotate(now.alice, { drop_password: true })).toMatchObject({ state: 'rotated' })

  for (const [title, point] of POINTS) {
    console.log(title)
    now = await killedAt(point, now, {})
  }

  expect(await inside('host', 'ls -A /root/.ssh')).toBe('authorized_keys')
})

// There is no former line to remove, so the first write is the only one.
test.each(POINTS.slice(0, 3))(
  'killed %s, a service by password that gets its first key and forgets the password stays in',
  async (_, point) => {
    const folder = await newFolder()
    folders.push(folder)
    await inside('host', `install -d -m 700 /root/.ssh && echo '${OTHER}' >/root/.ssh/authorized_keys`)

    const { service } = await killedAt(point, { folder, ...(await start(folder, 'root')) }, { drop_password: true })

    await service.kill()
    expect(await works((await start(folder, null)).alice)).toBe(200)
  },
)
