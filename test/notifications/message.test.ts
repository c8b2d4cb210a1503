import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ERRORS } from '../../functions/services.ts'
import { english, PAIRS } from '../../notifications/english.ts'
import { type Details, EVENT_NAMES, type EventName, SEVERITIES } from '../../notifications/event.ts'
import { composeMessage, type Manner, type ToldEvent, WORST_FIRST } from '../../notifications/message.ts'
import { createTranslation } from '../../panel/nouns/from-service.ts'
import { sentences } from '../../panel/words/en.ts'

const UPGRADED: Details<'upgrade_done'> = {
  job: '1772366400-k3x9q2pa',
  name: 'web',
  application: null,
  by: 'alice',
  schedule: null,
  outcome: 'upgraded',
  code: 0,
  reason: null,
  worse: 0,
  regressions: [],
  packages: null,
  security: null,
}
const BROKEN = ['Le service nginx.service est en échec.', 'Le port tcp 443 n’écoute plus (nginx).']
const UPDATES = { name: 'web', upgrades: 12, security: 3, news: 2, packages: ['openssl', 'curl'] }

/** The details of each event, as they are stored. */
const EXAMPLES: { [name in EventName]: Details<name> } = {
  updates_available: UPDATES,
  security_updates_available: UPDATES,
  upgrade_done: UPGRADED,
  upgrade_failed: { ...UPGRADED, outcome: 'failed', code: 100 },
  regressed: { ...UPGRADED, outcome: 'regressed', worse: 2, regressions: BROKEN },
  rolled_back: { ...UPGRADED, outcome: 'rolled_back', worse: 1, regressions: BROKEN.slice(0, 1) },
  rollback_failed: { ...UPGRADED, outcome: 'rollback_failed', reason: 'zfs error: out of space' },
  reboot_required: { name: '', reasons: ['noyau 6.8.12-13-pve installé, 6.8.12-9-pve en service'] },
  schedule_missed: {
    schedule: 's1',
    name: 'Nuit',
    timezone: 'UTC',
    run: 'r1',
    due_at: '2026-03-01T02:30:00.000Z',
    count: 3,
    reason: 'service_away',
  },
  schedule_stopped: {
    schedule: 's1',
    name: 'Nuit',
    timezone: 'UTC',
    run: 'r1',
    wave: 1,
    waves: 3,
    reason: 'regressed',
    targets: ['lxc:101'],
    happened: [],
  },
  check_failed: { name: 'web', message: null },
  host_unreachable: { name: '', message: 'Erreur SSH : pas de réponse de pve:22 en 10 s' },
  sign_in_from_new_address: { username: 'bob', address: '203.0.113.9' },
  settings_changed: { username: 'alice', keys: ['ssh_host', 'ssh_password'] },
  disk_low: { name: 'web', message: 'La place manque sur / : la mise à jour demande 1,2 Gio, il reste 90,5 Mio.' },
  module_taken_out: { module: 'bad', name: 'Le pire', message: 'Son code a arrêté le service (backend.mjs:3).' },
}
const OF_NOBODY: ReadonlySet<EventName> = new Set([
  'host_unreachable',
  'module_taken_out',
  'schedule_missed',
  'schedule_stopped',
  'settings_changed',
  'sign_in_from_new_address',
])

let ids = 0

/** An event as it was stored. */
function event<name extends EventName>(
  name: name,
  details: Details<name> = EXAMPLES[name],
  own: Partial<ToldEvent> = {},
): ToldEvent {
  const target = OF_NOBODY.has(name) ? null : name === 'reboot_required' ? 'host' : 'lxc:101'
  const severity = SEVERITIES[name]
  return { id: ++ids, at: '2026-03-01T02:31:06.000Z', event: name, severity, target, run: null, details, ...own }
}

const FR: Manner = { language: 'fr', publicUrl: 'https://panel.example' }
const EN: Manner = { language: 'en', publicUrl: 'https://panel.example' }

test('a regression says where, what broke and what to do, and links to its job', () => {
  expect(composeMessage([event('regressed')], FR)).toEqual({
    title: 'web (lxc:101) : 2 éléments en panne après la mise à jour',
    text: `${BROKEN.join('\n')}\nDemandé par alice.\nRevenez à l’état d’avant, ou gardez la mise à jour.\n(2026-03-01 02:31 UTC)`,
    link: 'https://panel.example/updates/1772366400-k3x9q2pa',
    severity: 'critical',
    event: 'regressed',
  })
  expect(composeMessage([event('regressed')], EN)).toMatchObject({
    title: 'web (lxc:101): 2 things broken after the upgrade',
    text: 'Unit nginx.service has failed.\nPort tcp 443 does not listen any more (nginx).\nStarted by alice.\nRoll back, or keep the upgrade.\n(2026-03-01 02:31 UTC)',
  })
})

test.each(['upgrade_done', 'upgrade_failed', 'regressed', 'rolled_back', 'rollback_failed'] as const)(
  '%s of an application names it, and its name turns no text',
  (name) => {
    const told = event(name, { ...EXAMPLES[name], application: 'shop\n\u202eevil' })
    const titles = [FR, EN].map((manner) => composeMessage([told], manner).title)

    expect(titles[0]).toMatch(/^web \(lxc:101\), shop.*evil : /)
    expect(titles[1]).toMatch(/^web \(lxc:101\), shop.*evil: /)
    expect(titles.join('')).not.toMatch(/[\n\u202e]/)
  },
)

test.each([
  [
    'updates_available',
    'web (lxc:101) : 12 mises à jour, dont 3 de sécurité',
    'web (lxc:101): 12 updates, 3 of them security',
  ],
  ['upgrade_done', 'web (lxc:101) : mise à jour faite', 'web (lxc:101): upgraded'],
  ['upgrade_failed', 'web (lxc:101) : la mise à jour a échoué', 'web (lxc:101): the upgrade failed'],
  ['rollback_failed', 'web (lxc:101) : le retour en arrière a échoué', 'web (lxc:101): the rollback failed'],
  ['reboot_required', 'Hôte : redémarrage requis', 'Host: reboot required'],
  ['schedule_missed', 'Planification « Nuit » : 3 exécutions manquées', 'Schedule “Nuit”: 3 runs missed'],
  ['schedule_stopped', 'Planification « Nuit » arrêtée à la vague 1 sur 3', 'Schedule “Nuit” stopped at wave 1 of 3'],
  ['host_unreachable', 'Hôte : inaccessible', 'Host: cannot be reached'],
  ['settings_changed', 'Réglages changés par alice', 'Settings changed by alice'],
  ['disk_low', 'web (lxc:101) : la place manque', 'web (lxc:101): low on disk space'],
  ['module_taken_out', 'Module « Le pire » mis à l’écart', 'Module “Le pire” was taken out'],
] as const)('%s has a title in both languages', (name, french, said) => {
  expect(composeMessage([event(name)], FR).title).toBe(french)
  expect(composeMessage([event(name)], EN).title).toBe(said)
})

test.each(EVENT_NAMES)('%s has the same facts in both languages, and no French in English', (name) => {
  const [one, other] = [composeMessage([event(name)], FR), composeMessage([event(name)], EN)]

  expect(other).toMatchObject({ link: one.link, severity: SEVERITIES[name], event: name })
  expect(other.text).not.toMatch(/[àâçéèêëîïôùûœ«»]|\b(le|la|les|une|des|est|pas|dans|avec|pour)\b/i)
  const numbers = (text: string) => text.match(/\d[\d.,:]*/g)
  const french = numbers(`${one.title}\n${one.text}`)?.map((number) => number.replace(/^(\d+),(\d+)$/, '$1.$2'))
  expect(numbers(`${other.title}\n${other.text}`)).toEqual(french)
  expect(one.text.length).toBeLessThan(500)
})

test('every event has a place in the order of a message, and a critical one comes before all others', () => {
  expect([...WORST_FIRST].sort()).toEqual([...EVENT_NAMES].sort())
  const worst = WORST_FIRST.map((name) => SEVERITIES[name] === 'critical')
  expect(worst.lastIndexOf(true)).toBeLessThan(worst.indexOf(false))
})

test('the events of one run are one message: the worst first, the others counted, the link to the worst', () => {
  const schedule = { run: 'r1', name: 'Nuit', timezone: 'UTC' }
  const done = Array.from({ length: 12 }, (_, n) =>
    event(
      'upgrade_done',
      { ...UPGRADED, job: `job-${n}`, name: `c${n}`, by: null, schedule },
      { run: 'r1', target: `lxc:${200 + n}` },
    ),
  )
  const regressed = event('regressed', { ...EXAMPLES.regressed, by: null, schedule }, { run: 'r1' })
  const stopped = event('schedule_stopped', undefined, { run: 'r1' })

  const { title, text, link, severity } = composeMessage([...done, stopped, regressed], FR)

  expect(title).toBe(
    'web (lxc:101) : 2 éléments en panne après la mise à jour ; planification arrêtée ; 12 mises à jour faites',
  )
  const lines = text.split('\n')
  expect(lines).toHaveLength(16)
  expect(lines[0]).toBe(
    '- web (lxc:101) : 2 éléments en panne après la mise à jour — Le service nginx.service est en échec. — Le port tcp 443 n’écoute plus (nginx). — Demandé par la planification « Nuit ».',
  )
  expect(lines[1]).toContain(
    'Une mise à jour a mis quelque chose en panne : lxc:101. — Les 2 vagues suivantes n’ont pas commencé.',
  )
  expect(lines.slice(-2)).toEqual(['Revenez à l’état d’avant, ou gardez la mise à jour.', '(2026-03-01 02:31 UTC)'])
  expect(link).toBe('https://panel.example/updates/1772366400-k3x9q2pa')
  expect(severity).toBe('critical')
  expect(composeMessage(done, EN)).toMatchObject({
    title: '12 upgrades done',
    link: 'https://panel.example/schedules/runs/r1',
  })
})

test('a run of plans links to the run, a check of many to the updates, and one job of many containers to the job', () => {
  const of = (job: string, run: string) => event('upgrade_failed', { ...EXAMPLES.upgrade_failed, job }, { run })
  const checked = (target: string) => event('security_updates_available', UPDATES, { target, run: 'check' })

  expect(composeMessage([of('a', 'run-1'), of('b', 'run-1')], EN).link).toBe('https://panel.example/runs/run-1')
  expect(composeMessage([of('a', 'a'), of('a', 'a')], EN).link).toBe('https://panel.example/updates/a')
  expect(composeMessage([checked('lxc:101'), checked('lxc:102')], EN)).toMatchObject({
    title: 'Security updates for 2 targets',
    link: 'https://panel.example/updates',
  })
})

test('two kinds of updates of one target are one line, which has the security updates', () => {
  const events = [event('updates_available'), event('security_updates_available')]

  expect(composeMessage(events, EN)).toMatchObject({
    title: 'web (lxc:101): 12 updates, 3 of them security',
    text: 'New: openssl, curl.\n(2026-03-01 02:31 UTC)',
    event: 'security_updates_available',
  })
})

test('a message of very many events is bounded, and says how many it leaves out', () => {
  const events = Array.from({ length: 500 }, (_, n) =>
    event('check_failed', { name: `c${n}`, message: 'x'.repeat(300) }, { target: `lxc:${100 + n}` }),
  )

  const { title, text } = composeMessage(events, EN)
  const { text: listed } = composeMessage(events.slice(0, 40), { ...EN, counts: new Map([['check_failed', 500]]) })

  expect(title).toBe('500 checks failed')
  expect(text.split('\n')).toHaveLength(23)
  expect(text).toContain('… and 480 more.')
  expect(listed).toBe(text)
  expect(text.length).toBeLessThan(10_000)
})

test('without the origin of the panel a message has no link, and an empty origin makes it a path', () => {
  expect(composeMessage([event('disk_low')], { language: 'fr', publicUrl: undefined }).link).toBeNull()
  expect(composeMessage([event('disk_low')], { language: 'fr', publicUrl: '' }).link).toBe('/updates')
})

test('the output of failed jobs comes last: its last lines, without what a terminal obeys', () => {
  const lines = Array.from({ length: 40 }, (_, n) => `line ${n}`)
  const output = [
    ...lines,
    '\u001b[31mE: bad\u001b[0m \u001b]0;title\u0007end\r',
    '10%\r50%\r100%',
    '\u202eesrever\0',
    '',
  ].join('\n')
  const outputs = new Map([
    [UPGRADED.job, output],
    ['other', 'not told'],
  ])

  const { text } = composeMessage([event('upgrade_failed')], { ...EN, outputs })
  const { text: good } = composeMessage([event('upgrade_done')], { ...EN, outputs })

  const [, told = ''] = text.split('\n\n')
  expect(told.split('\n').slice(0, 2)).toEqual(['End of the output, web (lxc:101):', 'line 23'])
  expect(told.split('\n').slice(-4)).toEqual(['E: bad end', '100%', ' esrever', '(2026-03-01 02:31 UTC)'])
  expect(told.split('\n')).toHaveLength(22)
  expect(told).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
  expect(good).not.toContain('line')
})

test('an output of one endless line is cut, and outputs of many jobs are bounded', () => {
  const jobs = Array.from({ length: 30 }, (_, n) =>
    event('upgrade_failed', { ...EXAMPLES.upgrade_failed, job: `job-${n}` }),
  )
  const outputs = new Map(jobs.map((_, n) => [`job-${n}`, `${'x'.repeat(2_000_000)}\n`]))
  const began = process.threadCpuUsage()

  const { text } = composeMessage(jobs, { ...EN, outputs })

  const { user, system } = process.threadCpuUsage(began)
  expect(text.match(/End of the output/g)).toHaveLength(3)
  expect(text).toContain(`${'x'.repeat(299)}…`)
  expect(text.length).toBeLessThan(10_000)
  // Time of the processor: a busy machine takes longer by the clock.
  expect((user + system) / 1_000).toBeLessThan(1_000)
})

test('names and reasons from a host neither break a line nor turn what follows, and are cut', () => {
  const hostile = `a\r\nBcc: x@example\u202e\u200f${'n'.repeat(100_000)}`
  const { title, text } = composeMessage(
    [event('upgrade_failed', { ...EXAMPLES.upgrade_failed, name: hostile, by: hostile, reason: hostile })],
    EN,
  )

  expect(`${title}${text}`).not.toMatch(/[\r\u202e\u200f]/)
  expect(title).not.toContain('\n')
  expect(text.split('\n')).toHaveLength(4)
  expect(title.length).toBeLessThanOrEqual(200)
  expect(text.length).toBeLessThan(1_000)
})

test('details that a later version has stored in another shape still make a message', () => {
  const [one] = [event('regressed', undefined, { details: { job: 5 } })]

  expect(composeMessage([one], FR)).toMatchObject({ title: '1 régression', link: 'https://panel.example/updates' })
  expect(() => composeMessage([], FR)).toThrow('without events')
})

test('the English of a sentence is that of the panel, which has the sentences of the service', () => {
  const panel = createTranslation(sentences)
  const inPanel = PAIRS.filter(([french]) => panel(french.replaceAll('{}', 'x1')) !== french.replaceAll('{}', 'x1'))

  expect(inPanel.length).toBeGreaterThan(20)
  for (const [french] of inPanel)
    expect(english(french.replaceAll('{}', 'x1'))).toBe(panel(french.replaceAll('{}', 'x1')))
})

test('a sentence that only a message translates is one of the service', () => {
  const texts = [
    ...Object.values(ERRORS).map(([, text]) => text),
    readFileSync('functions/checks/system-findings.ts', 'utf8').replaceAll(/\$\{[^}]*\}/g, '{}'),
  ]
  const panel = createTranslation(sentences)
  const own = PAIRS.map(([french]) => french).filter(
    (french) => panel(french.replaceAll('{}', 'x1')) === french.replaceAll('{}', 'x1'),
  )
  const missing = own.filter((french) => !texts.some((text) => text.replaceAll(/\{\w+\}/g, '{}').includes(french)))

  expect(own.length).toBeGreaterThan(3)
  expect(missing).toEqual([])
})

test('security updates alone are called so, and a number in English has a point', () => {
  const only = event('security_updates_available', { ...UPDATES, upgrades: 3 })

  expect(composeMessage([only], EN).title).toBe('web (lxc:101): 3 security updates')
  expect(composeMessage([only], FR).title).toBe('web (lxc:101) : 3 mises à jour de sécurité')
  expect(composeMessage([event('disk_low')], EN).text).toContain('the upgrade needs 1.2 GiB, and 90.5 MiB are left.')
})

test.each([
  [12, 3, '12 paquets, dont 3 de sécurité.', '12 packages, 3 of them security.'],
  [12, 0, '12 paquets.', '12 packages.'],
  [1, 1, '1 mise à jour de sécurité.', '1 security update.'],
])('a done upgrade of %i packages and %i for security tells both', (packages, security, french, said) => {
  const done = event('upgrade_done', { ...UPGRADED, packages, security })

  expect(composeMessage([done], FR).text.split('\n')[0]).toBe(french)
  expect(composeMessage([done], EN).text.split('\n')[0]).toBe(said)
})

test('a schedule that stopped names its containers, and what happened to each', () => {
  const happened = [
    { target: 'lxc:101', name: 'web', outcome: 'failed', reason: 'Le plan a échoué : E: x' },
    { target: 'lxc:102', name: '', outcome: 'rolled_back', reason: null },
  ]
  const targets = ['lxc:101', 'lxc:102', 'tag:db']
  const stopped = event('schedule_stopped', { ...EXAMPLES.schedule_stopped, reason: 'failed', targets, happened })

  expect(composeMessage([stopped], FR).text.split('\n').slice(0, 3)).toEqual([
    'Une mise à jour a échoué : tag:db.',
    'web (lxc:101) : la mise à jour a échoué (Le plan a échoué : E: x)',
    'lxc:102 : revenu à l’état d’avant la mise à jour',
  ])
  expect(composeMessage([stopped], EN).text).toContain('lxc:102: rolled back to before the upgrade\n')
})

test('the times of a schedule are those of its zone, which is named, and an unknown zone is UTC', () => {
  const missed = (timezone: string) => event('schedule_missed', { ...EXAMPLES.schedule_missed, timezone })

  expect(composeMessage([missed('Europe/Paris')], FR).text).toMatch(
    /La dernière était prévue le 2026-03-01 03:30 \(Europe\/Paris\)\.[\s\S]*\(2026-03-01 03:31 \(Europe\/Paris\)\)$/,
  )
  expect(composeMessage([missed('Not/A_Zone')], EN).text).toContain('was due at 2026-03-01 02:30 UTC.')
  const schedule = { run: 'r1', name: 'Nuit', timezone: 'Asia/Tokyo' }
  expect(composeMessage([event('upgrade_done', { ...UPGRADED, by: null, schedule })], EN).text).toContain(
    '(2026-03-01 11:31 (Asia/Tokyo))',
  )
})

test('the host is named by its name where that is known', () => {
  const told = (name: EventName) => composeMessage([event(name)], { ...EN, host: 'pve1.example' }).title

  expect(told('reboot_required')).toBe('pve1.example: reboot required')
  expect(told('host_unreachable')).toBe('pve1.example: cannot be reached')
  expect(told('regressed')).toBe('web (lxc:101): 2 things broken after the upgrade')
})
