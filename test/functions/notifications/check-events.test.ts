import { expect, test } from 'vitest'
import * as z from 'zod'
import { CHECK } from '../../../functions/checks/check-script.ts'
import startChecks from '../../../functions/checks/checks.post.ts'
import job from '../../../functions/jobs/job.get.ts'
import { FOLLOW, OUTPUT_MARK, START } from '../../../jobs/script.ts'
import { SshError } from '../../../ssh/connection.ts'
import { testApp } from '../../app.ts'
import { answered, rows } from '../answers.ts'
import { told, toldNames } from './told.ts'

const LIST =
  'VMID       Status     Lock         Name\n101        running                 web\n102        running                 db\n'
const SECURITY = 'Debian:12.1/stable, Debian-Security:12/stable-security'

/** A planned upgrade in apt's words. */
const inst = (name: string, to: string, origin = 'Debian:12.1/stable') => `Inst ${name} [1.0] (${to} ${origin} [amd64])`

/** The output of a look at a healthy target, with some sections replaced. */
function look(sections: Record<string, string> = {}): string {
  const all = { update: 'code 0', lists: '2', unfinished: '', check: 'code 0', held: '', planned: '', ...sections }
  const reported = { upgradable: 'Listing...\ncode 0', ...all, planned: `${all.planned}\ncode 0` }
  const lines = Object.entries(reported).map(([name, text]) => `${name}\n${text.replace(/^/gm, ' ')}\n`)
  return `os\n ID=debian\n VERSION_ID="12"\n\nmanager apt-get\n${lines.join('')}end\n`
}

/** A service whose host answers checks with these looks, by target. */
async function world() {
  const host = { looks: new Map<string, string>(), away: '', asked: 'all', ends() {} }
  let mark = ''
  const frame = (name: string, text: string) =>
    `${mark} ${name}\n${text.replace(/^/gm, ' ')}\n${mark} end ${name.split(' ')[0]}\n`
  const app = await testApp([startChecks, job], {
    fake: {
      exec(command) {
        if (host.away !== '') throw new SshError('bad_credentials', host.away)
        const at = command.indexOf(CHECK)
        if (command[2] === START) mark = command[at + 2] ?? ''
        if (command[2] !== FOLLOW) return {}
        host.ends()
        const asked = [...host.looks].filter(([name]) => host.asked === 'all' || host.asked === name)
        const text = frame('list 0', LIST) + asked.map(([name, each]) => frame(`${name} 0`, each)).join('')
        return { stdout: `${OUTPUT_MARK}\n${text}`, stderr: `ops-panel exit 0 ${Buffer.byteLength(text)}\n` }
      },
    },
  })
  /** Checks a target to the end, an hour after the former check, and returns the new events. */
  const check = async (target = 'all') => {
    app.advance(3_600_000)
    host.asked = target
    const before = (await told(app.db)).length
    const started = await app.request('POST', '/api/updates/checks', { as: 'user', body: { target } })
    const { job_id } = z.looseObject({ job_id: z.string() }).parse(await answered(started, 202))
    const status = `SELECT id FROM jobs WHERE status = 'running'`
    await expect.poll(() => rows(app.db, status)).toEqual([])
    return { id: job_id, events: (await told(app.db)).slice(before) }
  }
  const show = (target: string, sections: Record<string, string> = {}) => host.looks.set(target, look(sections))
  for (const target of ['host', 'lxc:101', 'lxc:102']) show(target)
  return { app, host, check, show }
}

test('updates are told when a check finds new ones, and not again while they are the same', async () => {
  const { check, show } = await world()
  const { events: none } = await check()
  expect(none).toEqual([])

  show('lxc:101', { planned: [inst('bash', '2.0'), inst('openssl', '3.0', SECURITY)].join('\n') })
  const { id, events } = await check()

  const of = { at: expect.any(String), run: id, target: 'lxc:101' }
  const counts = { name: 'web', upgrades: 2, security: 1, news: 1 }
  expect(events).toEqual([
    { ...of, event: 'security_updates_available', severity: 'warning', details: { ...counts, packages: ['openssl'] } },
    { ...of, event: 'updates_available', severity: 'info', details: { ...counts, packages: ['bash'] } },
  ])
  expect((await check()).events).toEqual([])
})

test('a newer version, and an update that becomes a security update, are new', async () => {
  const { check, show } = await world()
  show('host', { planned: [inst('bash', '2.0'), inst('curl', '2.0')].join('\n') })
  await check('host')

  show('host', { planned: [inst('bash', '2.1'), inst('curl', '2.0', SECURITY)].join('\n') })
  const { events } = await check('host')

  expect(events).toMatchObject([
    { event: 'security_updates_available', target: 'host', details: { name: '', upgrades: 2, packages: ['curl'] } },
    { event: 'updates_available', target: 'host', details: { packages: ['bash'] } },
  ])
})

test('the events of checks of single targets are one group, and those of a check of all another', async () => {
  const { check, show } = await world()
  for (const target of ['host', 'lxc:101']) show(target, { planned: inst('bash', '2.0') })

  const { events } = await check('host')
  const { id, events: others } = await check()

  expect(events.map(({ run, target }) => [run, target])).toEqual([['checks', 'host']])
  expect(others.map(({ run, target }) => [run, target])).toEqual([[id, 'lxc:101']])
})

test('checks of single targets become one notice ten minutes after the first event, a check of all at once', async () => {
  const { app, check, show } = await world()
  const made = async () => {
    await app.services.notifications.tick()
    return rows(app.db, 'SELECT target, severity FROM notices ORDER BY id')
  }
  show('host', { planned: inst('bash', '2.0') })
  await check('host')
  app.advance(9 * 60_000 + 59_000)
  expect(await made()).toEqual([])
  app.advance(1_000)
  expect(await made()).toEqual([{ target: 'host', severity: 'info' }])

  for (const target of ['lxc:101', 'lxc:102']) show(target, { planned: inst('openssl', '2.0', SECURITY) })
  await check()

  expect(await made()).toEqual([
    { target: 'host', severity: 'info' },
    { target: null, severity: 'warning' },
  ])
})

test('a reboot is told once for its reasons, and again for another reason or after it was over', async () => {
  const { check, show } = await world()
  const kernels = '6.8.12-9-pve\n6.8.12-9-pve\n6.8.12-10-pve'
  const events = async (sections: Record<string, string>) => {
    show('host', sections)
    return (await check('host')).events.map(({ event, details }) => [event, details.reasons])
  }
  const kernel = 'noyau 6.8.12-10-pve installé, 6.8.12-9-pve en service'

  expect(await events({ kernels })).toEqual([['reboot_required', [kernel]]])
  expect(await events({ kernels })).toEqual([])
  expect(await events({ kernels, reboot: 'dbus' })).toEqual([['reboot_required', ['dbus', kernel]]])
  expect(await events({ reboot: 'dbus' })).toEqual([])
  expect(await events({})).toEqual([])
  expect(await events({ kernels })).toEqual([['reboot_required', [kernel]]])
})

test('little space is told when it appears and when it becomes a lack, not when it gets better', async () => {
  const { check, show } = await world()
  const mib = 1024 * 1024
  const events = async (free: number, need: number) => {
    const disk = `/ ${free} ${mib} 9999 f1\narchives 9999 ${mib} 9999 f2\ncached 0`
    const sizes = `download 0\nAfter this operation, ${need}.0 MB of additional disk space will be used.`
    show('lxc:102', { disk, sizes, planned: inst('bash', '2.0') })
    return (await check('lxc:102')).events
      .filter(({ event }) => event === 'disk_low')
      .map(({ details }) => details.message)
  }

  expect(await events(9_000, 10)).toEqual([])
  expect(await events(90, 10)).toEqual(['Il ne reste presque plus de place sur / : 80,5 Mio après la mise à jour.'])
  expect(await events(80, 10)).toEqual([])
  expect(await events(80, 300)).toEqual(['La place manque sur / : la mise à jour demande 286,1 Mio, il reste 80 Mio.'])
  expect(await events(90, 10)).toEqual([])
  expect(await events(9_000, 10)).toEqual([])
  expect(await events(90, 10)).toHaveLength(1)
})

test('a target without an answer is told when its checks begin to fail, and again after a success', async () => {
  const { app, host, check, show } = await world()
  await check()

  host.looks.delete('lxc:101')
  expect((await check()).events).toMatchObject([
    { event: 'check_failed', severity: 'warning', target: 'lxc:101', details: { name: 'web', message: null } },
  ])
  expect((await check()).events).toEqual([])
  expect((await check('lxc:101')).events).toEqual([])

  show('lxc:101')
  expect((await check()).events).toEqual([])
  host.looks.delete('lxc:101')
  await check()
  expect(await toldNames(app.db)).toEqual(['check_failed lxc:101', 'check_failed lxc:101'])
})

test('a container that the host does not know tells nothing', async () => {
  const { check } = await world()
  await check()

  expect((await check('lxc:999')).events).toEqual([])
})

test('a host that cannot be reached is one critical event for the whole time, and none of each target', async () => {
  const { host, check } = await world()
  await check()

  host.away = 'authentification refusée pour panel'
  expect((await check()).events).toMatchObject([
    {
      event: 'host_unreachable',
      severity: 'critical',
      target: null,
      run: null,
      details: { name: '', message: 'Erreur SSH : authentification refusée pour panel' },
    },
  ])
  expect((await check('lxc:101')).events).toEqual([])
  expect((await check('host')).events).toEqual([])

  host.away = ''
  expect((await check()).events).toEqual([])
  host.away = 'authentification refusée pour panel'
  expect((await check('lxc:102')).events).toMatchObject([{ event: 'host_unreachable', target: null }])
})

test('a cancelled check says nothing of targets that it has not reached', async () => {
  const { app, host, check } = await world()
  await check()
  host.looks.delete('lxc:101')
  host.ends = () => void app.db.run(`UPDATE jobs SET cancelled_by = 'bob' WHERE status = 'running'`)

  const { events } = await check()

  expect(await rows(app.db, 'SELECT error_code FROM jobs ORDER BY rowid DESC LIMIT 1')).toEqual([
    { error_code: 'cancelled' },
  ])
  expect(events).toEqual([])
})

test('of hundreds of new packages some are named, and all are counted', async () => {
  const { check, show } = await world()
  show('lxc:101', { planned: Array.from({ length: 500 }, (_, n) => inst(`lib${n}`, '2.0')).join('\n') })

  const { events } = await check()

  expect(events).toMatchObject([{ details: { upgrades: 500, news: 500 } }])
  expect(events[0]?.details.packages).toHaveLength(20)
})

test('the findings of a check are stored with their events, or not at all', async () => {
  const { app, host, show } = await world()
  await app.db.script(`CREATE TRIGGER full BEFORE INSERT ON notification_events BEGIN SELECT RAISE(ABORT, 'full'); END`)
  show('host', { planned: inst('bash', '2.0') })

  host.asked = 'host'
  await answered(await app.request('POST', '/api/updates/checks', { as: 'user', body: { target: 'host' } }), 202)
  await expect.poll(() => app.lines().filter((line) => line.includes('full')).length).toBeGreaterThan(0)
  expect(await rows(app.db, 'SELECT target FROM checks WHERE summary IS NOT NULL')).toEqual([])

  await app.db.script('DROP TRIGGER full')
  await expect.poll(() => toldNames(app.db)).toEqual(['updates_available host'])
  expect(await rows(app.db, 'SELECT target FROM checks WHERE summary IS NOT NULL')).toEqual([{ target: 'host' }])
})
