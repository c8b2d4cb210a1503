import { expect, test } from 'vitest'
import { nightOf, shareOf } from '../../../panel/nouns/night.ts'
import { runningRun, runOf, targetOf, type Upgrade, upgradeOf, waveOf } from '../flows/schedule-states.ts'

const MINUTE = 60_000
const upgrades = (...all: Upgrade[]) => new Map(all.map((each) => [each.job_id, each]))
const jobOf = ({ job_id, target }: Upgrade, outcome: string | null) => targetOf(target, outcome, { job_id })
const ms = (at: string | null | undefined) => Date.parse(at ?? '')

test('a night begins with its first wave, and has each upgrade from its own turn on', () => {
  const web = upgradeOf('lxc:101', 8.99, 2)
  const db = upgradeOf('lxc:102', 8.95, 3, { started_at: web.started_at })
  const run = runOf({
    waves: [
      waveOf(['lxc:101', 'lxc:102'], [jobOf(web, 'regressed'), jobOf(db, 'upgraded')]),
      waveOf('rest', [], { started_at: null, finished_at: null, state: 'waiting' }),
    ],
  })

  const night = nightOf(run, upgrades(web, db), Date.now())

  expect(night?.from).toBe(ms(run.waves[0]?.started_at))
  expect(night?.to).toBe(ms(run.finished_at))
  expect(night?.waves).toHaveLength(1)
  expect(night?.waves[0]?.jobs).toEqual([
    { target: 'lxc:101', fate: 'broken', span: { from: ms(web.begun_at), to: ms(web.finished_at) } },
    { target: 'lxc:102', fate: 'upgraded', span: { from: ms(db.begun_at), to: ms(db.finished_at) } },
  ])
})

test('an upgrade that waits for its turn has no span, and one that never had a turn is left out', () => {
  const waits = upgradeOf('lxc:102', 0.4, 0, { status: 'running', phase: 'waiting', begun_at: null })
  const never = upgradeOf('lxc:103', 0.4, 1, { status: 'error', begun_at: null })
  const host = upgradeOf('host', 0.4, 0, { status: 'running', phase: 'upgrading', begun_at: null })
  delete waits.finished_at
  delete host.finished_at
  const run = runningRun({
    waves: [
      waveOf('rest', [jobOf(waits, null), jobOf(never, 'not_started'), jobOf(host, null)], {
        state: 'running',
        finished_at: null,
      }),
    ],
  })
  const now = Date.now()

  const night = nightOf(run, upgrades(waits, never, host), now)

  expect(night?.to).toBe(now)
  expect(night?.waves[0]?.jobs).toEqual([
    { target: 'lxc:102', fate: 'waiting', span: undefined },
    { target: 'host', fate: 'waiting', span: { from: ms(host.started_at), to: undefined } },
  ])
})

test('nothing has begun: there is no night', () => {
  expect(nightOf(runOf({ state: 'missed', waves: [] }), new Map(), Date.now())).toBeUndefined()
})

test('a span has its share of the night, and one that goes on reaches its end', () => {
  const night = { from: 0, to: 10 * MINUTE }
  expect(shareOf({ from: 2 * MINUTE, to: 4 * MINUTE }, night)).toEqual({ start: 0.2, length: 0.2 })
  expect(shareOf({ from: 5 * MINUTE, to: undefined }, night)).toEqual({ start: 0.5, length: 0.5 })
  expect(shareOf({ from: 0, to: 0 }, { from: 0, to: 0 })).toEqual({ start: 0, length: 0 })
})

test('a clock that went back gives no negative span', () => {
  const back = upgradeOf('lxc:101', 8, -5)
  const night = nightOf(runOf({ waves: [waveOf('rest', [jobOf(back, 'upgraded')])] }), upgrades(back), Date.now())
  expect(night?.waves[0]?.jobs[0]?.span).toEqual({ from: ms(back.begun_at), to: ms(back.begun_at) })
})
