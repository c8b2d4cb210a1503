import { expect, test } from 'vitest'
import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'
import { follow, openPage, signIn } from '../browser.ts'
import { armClipping } from './clipping.ts'
import { everyChannel, notifying } from './notification-states.ts'
import { look } from './page-findings.ts'
import {
  LONG_NAME,
  RUN,
  runningRun,
  runOf,
  SCHEDULE,
  scheduleOf,
  scheduling,
  targetOf,
  upgradeOf,
  waveOf,
} from './schedule-states.ts'
import { answered, told } from './update-states.ts'

const LONG = 240_000
const WAIT = { timeout: 20_000, interval: 50 }
/** Chromium's own messages about refused requests. */
const EXPECTED = { expected: /status of (400|404|409|422|502)|WebSocket/ }

/** Targets with names of the greatest length. */
const TARGETS = Array.from({ length: 20 }, (_, n) => `lxc:${101 + n}`)
const longName = (n: number) => `${LONG_NAME.slice(0, -3)}${`${n}`.padStart(3, '0')}`

async function world(locale: string) {
  const service = await startService(await startDemo())
  const page = await openPage(`${service.url}/account`, { ...EXPECTED, locale, reducedMotion: 'reduce' })
  const { state: checks } = await answered(page, [
    told('host', 'pve'),
    ...TARGETS.map((target, n) => told(target, longName(n), n < 2 ? { state: 'stopped' } : {})),
  ])
  const schedules = await scheduling(page)
  const notifications = await notifying(page)
  await signIn(page)
  await armClipping(page)
  const found: string[] = []
  return { page, checks, schedules, notifications, found }
}

test.each(['fr-FR', 'en-GB'])('%s: schedules have no fault at any width', { timeout: LONG }, async (locale) => {
  const { page, checks, schedules, found } = await world(locale)
  const { state } = schedules

  await follow(page, '/schedules')
  await page.locator('.schedule').first().waitFor(WAIT)
  await look(page, 'each standing', found)

  const everywhere = TARGETS.map((target, n) => ({
    targets: n === 19 ? ('rest' as const) : [target],
    pause_minutes: 15,
  }))
  state.schedules = Array.from({ length: 20 }, (_, n) =>
    scheduleOf({
      id: `${n}`.padStart(24, '0'),
      name: longName(n),
      timezone: 'America/Argentina/ComodRivadavia',
      waves: everywhere,
    }),
  )
  checks.schedules_paused = { by: LONG_NAME.slice(0, 32), at: new Date().toISOString() }
  await follow(page, '/account')
  await page.reload()
  await armClipping(page)
  await follow(page, '/schedules')
  await page.locator('.schedule').nth(19).waitFor(WAIT)
  await look(page, 'twenty long names, all paused', found)

  state.schedules = Array.from({ length: 200 }, (_, n) =>
    scheduleOf({ id: `${n}`.padStart(24, '0'), name: longName(n) }),
  )
  checks.schedules_paused = null
  await follow(page, '/account')
  await follow(page, '/schedules')
  await page.locator('.schedule').nth(19).waitFor(WAIT)
  await look(page, 'the first of two hundred', found)

  state.schedules = []
  await follow(page, '/account')
  await follow(page, '/schedules')
  await page.locator('.first-schedule').waitFor(WAIT)
  await look(page, 'no schedule', found)

  // The words of each end, its reasons, and the longest course of a night.
  const harm = { kind: 'unit', name: `${LONG_NAME}.service`, message: 'x' } as const
  state.upgrades = TARGETS.map((target, n) =>
    upgradeOf(target, 8.9 - n / 40, 12, {
      ...(n % 4 === 0 && { outcome: 'regressed' as const, regressions: [harm, harm] }),
      ...(n === 1 && {
        decided: { by: LONG_NAME, at: new Date().toISOString(), choice: 'rollback' as const, job_id: null },
      }),
    }),
  )
  const reason = `Le plan a échoué : ${'E: Unable-to-locate-a-package-with-a-rather-long-name '.repeat(3)}`
  for (const [name, run] of [
    ['running', runningRun({ schedule_name: LONG_NAME })],
    ['stopped', runOf({ reboot: { check_id: null, job_id: null, outcome: 'skipped' } })],
    [
      'a long night',
      runOf({
        waves: [
          waveOf(
            [...TARGETS],
            state.upgrades.map(({ target, job_id, outcome }) => targetOf(target, outcome, { job_id })),
          ),
        ],
      }),
    ],
    [
      'many',
      runOf({
        waves: [
          waveOf(
            [...TARGETS],
            TARGETS.map((target) => targetOf(target, 'impossible', { reason })),
          ),
        ],
      }),
    ],
    ['missed', runOf({ state: 'missed', reason: 'former_run', missed: 12, waves: [], ping_error: 'aucune réponse' })],
  ] as const) {
    state.run = run
    await follow(page, '/account')
    await follow(page, `/schedules/runs/${RUN}`)
    await page.locator('.run-result').waitFor(WAIT)
    await look(page, `a run: ${name}`, found)
  }
  await follow(page, '/account')
  state.schedules = [scheduleOf({ name: LONG_NAME })]
  state.runs = Array.from({ length: 30 }, (_, n) =>
    runOf({
      id: `${n}`.padStart(24, '0'),
      due_at: new Date(Date.now() - (n + 1) * 86_400_000).toISOString(),
      ...(n === 2 && { state: 'missed' as const, missed: 300, started_by: LONG_NAME }),
    }),
  )
  await follow(page, `/schedules/${SCHEDULE}`)
  await page.locator('.run-history .below button').click()
  await page.locator('.run-history li').nth(29).waitFor(WAIT)
  await look(page, 'all runs', found)
  expect(found).toEqual([])
})

test.each(['fr-FR', 'en-GB'])(
  '%s: the form of a schedule has no fault at any width',
  { timeout: LONG },
  async (locale) => {
    const { page, schedules, found } = await world(locale)
    const { state } = schedules
    state.schedules = [
      scheduleOf({
        name: LONG_NAME,
        cron: '7,37 1-3 * * 1-5',
        timezone: 'America/New_York',
        waves: [
          { targets: TARGETS.slice(0, 3), pause_minutes: 30 },
          { targets: ['tag:a-tag-with-a-rather-long-name-that-somebody-has-given'], pause_minutes: 15 },
          { targets: ['host'], pause_minutes: 0 },
        ],
        reboot: 'if_required',
        ping_url_set: true,
      }),
    ]
    await follow(page, `/schedules/${SCHEDULE}`)
    await page.locator('.preview .times').waitFor(WAIT)
    await look(page, 'a stored schedule', found)

    await follow(page, '/schedules/new')
    await page.locator('.preview .times').waitFor(WAIT)
    state.refusal = {
      status: 400,
      json: {
        error: 'x',
        code: 'schedule_invalid',
        details: ['name', 'cron', 'timezone', 'window_minutes', 'waves.0.targets', 'ping_url'].map((field) => ({
          field,
          message: 'une adresse http: ou https: sans identifiants, requête ni fragment',
        })),
      },
    }
    for (let n = 0; n < 3; n += 1) await page.locator('.wave-list + .button').click()
    await page.locator('.preview [type=submit]').click()
    await page.locator('.wrong').first().waitFor(WAIT)
    await look(page, 'a refused schedule', found)
    expect(found).toEqual([])
  },
)

test.each(['fr-FR', 'en-GB'])('%s: notifications have no fault at any width', { timeout: LONG }, async (locale) => {
  const { page, notifications, found } = await world(locale)
  const { state } = notifications
  state.channels = [
    ...everyChannel(),
    { ...(everyChannel()[1] ?? fail()), id: 'c8', name: LONG_NAME, targets: TARGETS },
  ]
  state.notices = state.notices
    .slice(0, 6)
    .map((each, n) => ({ ...each, title: `${LONG_NAME} (lxc:${101 + n}) : 3 services en panne` }))
  await follow(page, '/notifications')
  await page.locator('.channels > li').nth(2).locator('.deeds > .button').first().click()
  await page.locator('.result').waitFor(WAIT)
  await page.locator('.notices .disclose').first().click()
  await look(page, 'each channel', found, { inFrames: true })
  state.channels = Array.from({ length: 9 }, (_, n) => ({ ...(everyChannel()[2] ?? fail()), id: `n${n}` }))
  await page.locator('.recipients .as-list td').nth(8).waitFor(WAIT)
  await look(page, 'many channels', found, { inFrames: true })

  await page.locator('.head .primary').click()
  await look(page, 'the kinds', found)
  await page.locator('.kinds button').nth(1).click()
  await page.locator('.edit-channel .quiet input').check()
  await page
    .locator('.edit-channel label')
    .filter({ hasText: /^(Certaines|Some)$/ })
    .click()
  state.refusal = {
    status: 422,
    json: {
      error: 'x',
      code: 'channel_settings_invalid',
      details: ['name', 'settings.host', 'settings.security', 'settings.password', 'events', 'targets', 'quiet.to'].map(
        (field) => ({
          field,
          message: 'Sans chiffrement, un mot de passe n’est envoyé qu’à cette machine (localhost).',
        }),
      ),
    },
  }
  await page.locator('.edit-channel [type=submit]').click()
  await page.locator('.edit-channel .wrong').first().waitFor(WAIT)
  await look(page, 'a refused channel', found)
  expect(found).toEqual([])
})

function fail(): never {
  throw new Error('there is no such channel')
}
