import { expect, test } from 'vitest'
import * as z from 'zod'
import { answered, rows } from '../answers.ts'
import { type Ground, here, ofPanel, standingApp } from './standing-app.ts'

const OTHER = '11111111-2222-4333-8444-555555555555'
const DOCKER = `docker-${'0a'.repeat(32)}.scope`
const host = (...lines: string[]): Ground => ({ standing: [`place ${OTHER} pid:[4026531836]`, ...lines] })
const elsewhere = (...lines: string[]): Ground => ({
  standing: [`place ${OTHER.replace('1', '2')} pid:[77]`, ...lines],
})

/** The app after a check of everything, and after the instance has noted its place. */
async function stood(grounds: Record<string, Ground>, env?: Record<string, string>) {
  const all = await standingApp(grounds, env)
  await all.look()
  await all.note()
  return all
}

test('a container in which the panel runs is found by its boot id and pid namespace, and the host names it', async () => {
  const { place } = await here()
  const { found, listed } = await stood({ host: host(), 'lxc:101': elsewhere(), 'lxc:105': { standing: [place] } })

  expect(ofPanel(await found('lxc:105'))).toMatchObject([
    {
      code: 'self_impact',
      severity: 'info',
      packages: [],
      message: expect.stringContaining('Le panneau fonctionne dans ce conteneur'),
    },
  ])
  expect(ofPanel(await found('host'))).toMatchObject([
    { severity: 'info', message: 'Le panneau fonctionne dans le conteneur 105 de cet hôte.' },
  ])
  expect(ofPanel(await found('lxc:101'))).toEqual([])
  // A remark does not change the state, and the list of all says the same.
  expect((await listed()).map((each) => [each.target, each.state, ofPanel(each).length])).toEqual([
    ['host', 'up_to_date', 1],
    ['lxc:101', 'up_to_date', 0],
    ['lxc:105', 'up_to_date', 1],
  ])
})

test('the panel’s own package and the engine around it count only in its place', async () => {
  const { place, boot, namespace } = await here()
  const packages = ['ops-panel', 'containerd.io', 'docker-ce', 'curl']
  const own = await stood({
    host: host(),
    'lxc:101': { ...elsewhere(), packages },
    'lxc:105': { standing: [place], packages },
  })
  const inDocker = await stood({
    host: { standing: [`place ${boot} pid:[1]`, `inner pid:[${namespace}] /lxc/105/ns/system.slice/${DOCKER}`] },
    'lxc:105': { standing: [`place ${OTHER} pid:[2]`, `inner pid:[${namespace}] /system.slice/${DOCKER}`], packages },
  })

  expect(ofPanel(await own.found('lxc:105'))).toMatchObject([
    {
      code: 'self_impact',
      severity: 'warning',
      packages: ['ops-panel'],
      message: expect.stringContaining('change le panneau lui-même'),
    },
    {
      code: 'application_update',
      severity: 'info',
      packages: ['ops-panel'],
      message: expect.stringContaining('2.0 (1.0 installée)'),
    },
  ])
  expect((await own.found('lxc:105')).state).toBe('attention')
  expect(ofPanel(await own.found('lxc:101'))).toEqual([])
  expect(ofPanel(await own.plan('lxc:105'))).toMatchObject([{ severity: 'warning', packages: ['ops-panel'] }])
  expect(ofPanel(await own.plan('lxc:101'))).toEqual([])
  expect(ofPanel(await inDocker.found('lxc:105'))).toMatchObject([
    {
      code: 'self_impact',
      severity: 'warning',
      packages: ['containerd.io', 'docker-ce'],
      message: expect.stringContaining('le moteur de conteneurs du panneau'),
    },
  ])
})

test('an engine is found by the container alone where the host does not tell, and by the host alone', async () => {
  const { boot, namespace } = await here()
  const packages = ['docker-ce']
  const inner = `inner pid:[${namespace}] /docker/${'0a'.repeat(32)}`
  const ofContainer = await stood({
    host: { standing: [`place ${boot} pid:[1]`] },
    'lxc:105': { standing: [`place ${OTHER} pid:[2]`, inner], packages },
  })
  const ofHost = await stood({ host: { standing: [`place ${boot} pid:[1]`, inner], packages } })

  expect(ofPanel(await ofContainer.found('lxc:105'))).toMatchObject([{ packages: ['docker-ce'] }])
  expect(ofPanel(await ofHost.found('host'))).toMatchObject([{ severity: 'warning', packages: ['docker-ce'] }])
})

test('a container that claims to have the panel in it is not believed where the host knows better', async () => {
  const { boot, namespace, place } = await here()
  const inner = `inner pid:[${namespace}] /lxc/105/ns/${DOCKER}`
  const forged = { standing: [`place ${OTHER} pid:[9]`, `inner pid:[${namespace}] /${DOCKER}`] }
  const known = await stood({
    host: { standing: [`place ${boot} pid:[1]`, inner] },
    'lxc:105': { standing: [`place ${OTHER} pid:[2]`] },
    'lxc:106': forged,
    'lxc:107': { standing: [place] },
  })

  const warned = (await known.listed()).flatMap((each) => (ofPanel(each).length > 0 ? [each.target] : []))
  expect(warned).toEqual(['host', 'lxc:105'])
})

test('a container that has read the boot id of the host is not taken for the host', async () => {
  const { place } = await here()
  const packages = ['ops-panel']
  const all = await stood({ host: { standing: [place], packages }, 'lxc:107': { standing: [place], packages } })

  const warned = (await all.listed()).flatMap((each) => (ofPanel(each).length > 0 ? [each.target] : []))
  expect(warned).toEqual(['host'])
})

test('the proxy, the libSQL server and the way to the host are found by their addresses', async () => {
  const { place } = await here()
  const env = { PANEL_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8', PANEL_DATABASE_URL: 'http://[fd00::20]:8080' }
  const all = await standingApp(
    {
      host: host('address 10.0.0.2/24 vmbr0'),
      'lxc:101': {
        ...elsewhere('address 10.0.0.7/24 eth0'),
        packages: ['nginx-core', 'caddy', 'sqld', 'openssh-server'],
      },
      'lxc:102': { ...elsewhere('address fd00::20/64 eth0'), packages: ['nginx', 'sqld'] },
      'lxc:103': {
        ...elsewhere('address 10.0.0.9/24 eth0', 'address 10.0.0.7/16 docker0'),
        packages: ['openssh-server', 'caddy'],
      },
      'lxc:105': { standing: [place] },
    },
    env,
  )
  await all.app.services.settings.change({ ssh_host: '10.0.0.9:2222' })
  // A request through the proxy, and one from an address that is not trusted.
  for (const address of ['10.0.0.7', '192.0.2.5'])
    await all.app.app.request(
      '/api/updates/checks',
      { headers: { 'x-forwarded-for': '198.51.100.4' } },
      { peer: { address, encrypted: false } },
    )
  await all.look()
  await all.note()

  expect(ofPanel(await all.found('lxc:101'))).toMatchObject([
    { packages: ['nginx-core', 'caddy'], message: expect.stringContaining('le mandataire du panneau') },
  ])
  expect(ofPanel(await all.found('lxc:102'))).toMatchObject([
    { packages: ['sqld'], message: expect.stringContaining('la base de données du panneau') },
  ])
  // The bridge of an engine has the same address in many places.
  expect(ofPanel(await all.found('lxc:103'))).toMatchObject([
    { packages: ['openssh-server'], message: expect.stringContaining('le relais vers l’hôte') },
  ])
  expect(ofPanel(await all.found('host'))).toMatchObject([{ severity: 'info' }])
})

test('a proxy beside the engine in which the panel runs is found by the address of the engine’s bridge', async () => {
  const { boot, namespace } = await here()
  const inner = `inner pid:[${namespace}] /docker/${'0a'.repeat(32)}`
  const packages = ['nginx']
  const all = await standingApp(
    {
      host: { standing: [`place ${boot} pid:[1]`, 'address 172.17.0.1/16 docker0'], packages },
      'lxc:105': { standing: [`place ${OTHER} pid:[2]`, inner, 'address 172.17.0.1/16 docker0'], packages },
    },
    { PANEL_TRUSTED_PROXIES: '172.16.0.0/12' },
  )
  const headers = { 'x-forwarded-for': '198.51.100.4' }
  await all.app.app.request('/api/updates/checks', { headers }, { peer: { address: '172.17.0.1', encrypted: false } })
  await all.look()
  await all.note()

  expect(ofPanel(await all.found('lxc:105'))).toMatchObject([{ severity: 'warning', packages: ['nginx'] }])
  expect(ofPanel(await all.found('host'))).toMatchObject([{ severity: 'info' }])
})

test('a server on the loopback is in the place of the panel', async () => {
  const { place } = await here()
  const all = await standingApp({ host: host(), 'lxc:105': { standing: [place], packages: ['nginx'] } })
  await all.app.request('GET', '/api/updates/checks', { as: 'user', from: '203.0.113.9' })
  await all.look()
  await all.note()

  expect(ofPanel(await all.found('lxc:105'))).toMatchObject([{ severity: 'warning', packages: ['nginx'] }])
})

test('where nothing is known, the names of packages alone count', async () => {
  const packages = [
    'ops-panel',
    'openssh-server',
    'pve-manager',
    'lxcfs',
    'pve-kernel-6.8',
    'nginx',
    'docker-ce',
    'sqld',
  ]
  const all = await standingApp({ host: { packages }, 'lxc:101': { packages } })
  await all.look()

  expect(ofPanel(await all.found('host'))).toMatchObject([
    { packages: ['ops-panel', 'openssh-server', 'pve-manager', 'lxcfs'] },
    { code: 'application_update' },
  ])
  expect(ofPanel(await all.found('lxc:101'))).toMatchObject([
    { packages: ['ops-panel'] },
    { code: 'application_update' },
  ])
})

test('a row of an instance that is gone for an hour no longer counts, and the note of a quiet hour is renewed', async () => {
  const { place } = await here()
  const all = await stood({ host: host(), 'lxc:105': { standing: [place] } })
  const seen = () => rows(all.app.db, 'SELECT place, seen_at FROM standing_instances')
  const [first] = await seen()
  await all.note()
  expect(await seen()).toEqual([first])

  all.app.advance(10 * 60_000)
  await all.note()
  expect(await seen()).not.toEqual([first])

  all.app.advance(60 * 60_000)
  const facts = JSON.stringify({ boot: OTHER, namespace: '1', unit: null, proxies: [], database: null, ssh: null })
  await all.app.db.run('INSERT INTO standing_instances VALUES (?, ?, ?)', [
    'other',
    facts,
    new Date(all.app.services.clock()).toISOString(),
  ])
  expect(ofPanel(await all.found('lxc:105'))).toEqual([])
})

test('a service whose restart takes the panel or its way to the host away says so', async () => {
  const { place } = await here()
  const all = await standingApp({ host: host(), 'lxc:105': { standing: [place] }, 'lxc:106': elsewhere() })
  await all.app.request('GET', '/api/updates/checks', { as: 'user', from: '203.0.113.9' })
  await all.look()
  await all.note()
  const services = ['nginx', 'ssh', 'ops-panel', 'cron', 'lxcfs'].map((name) => ({ name, reason: '/usr/lib/x' }))
  await all.app.db.run(`UPDATE checks SET summary = json_set(summary, '$.services', json(?))`, [
    JSON.stringify(services),
  ])
  const interrupts = async (target: string) =>
    z
      .looseObject({ services: z.array(z.object({ interrupts: z.string().nullable() })) })
      .parse(await all.found(target))
      .services.map((each) => each.interrupts)

  expect(await interrupts('host')).toEqual([null, 'host', null, null, 'host'])
  expect(await interrupts('lxc:105')).toEqual(['panel', null, 'panel', null, null])
  expect(await interrupts('lxc:106')).toEqual([null, null, null, null, null])
})

test('targets that lie about their place, or say too much, cost nothing', async () => {
  const many = Array.from({ length: 5_000 }, (_, n) => `inner pid:[${n}] /lxc/${n}/${DOCKER}`)
  const all = await stood({
    host: host(
      'place not-a-boot-id pid:[x]',
      'address ../../etc eth0',
      'address 300.1.1.1/8 eth0',
      'inner',
      'inner pid:[1]',
      ...many,
    ),
    'lxc:101': { standing: ['place', 'place a b', 'what'] },
  })
  const stored = z
    .array(z.object({ target: z.string(), facts: z.string() }))
    .parse(await rows(all.app.db, 'SELECT target, facts FROM standing_targets'))

  expect(stored.map(({ target }) => target)).toEqual(['host'])
  const { inner, addresses } = z
    .looseObject({ inner: z.array(z.unknown()), addresses: z.array(z.unknown()) })
    .parse(JSON.parse(stored[0]?.facts ?? ''))
  expect(inner.length).toBeLessThan(1_000)
  expect(addresses).toEqual([])
  expect(ofPanel(await all.found('host'))).toEqual([])
})

test('an upgrade of all takes the containers on which the panel stands last, and where it runs at the very end', async () => {
  const { place } = await here()
  const env = { PANEL_DATABASE_URL: 'http://10.0.0.20:8080' }
  const all = await stood(
    {
      host: host(),
      'lxc:101': { standing: [place] },
      'lxc:102': elsewhere('address 10.0.0.20/24 eth0'),
      'lxc:103': elsewhere(),
      'lxc:104': elsewhere(),
    },
    env,
  )
  const { job_id } = z
    .looseObject({ job_id: z.string() })
    .parse(await answered(await all.send('POST', '/api/updates/run', { target: 'all' }), 202))
  await all.ended(job_id)

  const started = all.app.ran.find(({ command }) => command.includes('ops-panel-upgrade'))
  expect(started?.command.slice(-5)).toEqual(['all', '103', '104', '102', '101'])
  const [parts] = await rows(all.app.db, `SELECT parts FROM jobs WHERE id = '${job_id}'`)
  expect(JSON.parse(String(parts?.parts)).map(({ id }: { id: string }) => id)).toEqual(['103', '104', '102', '101'])
})

test('of a run, the jobs of targets on which the panel stands wait until all before them have ended', async () => {
  const { place } = await here()
  const packages = ['curl']
  const all = await stood({
    host: { ...host(), packages },
    'lxc:101': { standing: [place], packages },
    'lxc:102': { ...elsewhere(), packages },
    'lxc:103': { ...elsewhere(), packages },
  })
  const plans: string[] = []
  for (const target of ['host', 'lxc:101', 'lxc:102', 'lxc:103']) plans.push((await all.plan(target)).id)
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const { exec } = all.app.services.host
  all.app.services.host.exec = async (...asked) => {
    await gate
    return exec(...asked)
  }
  const answer = await answered(await all.send('POST', '/api/updates/runs', { plans }), 202)
  const { jobs } = z.looseObject({ jobs: z.array(z.object({ target: z.string(), job_id: z.string() })) }).parse(answer)
  const begun = async () =>
    (await rows(all.app.db, `SELECT target FROM jobs WHERE kind = 'upgrade' AND begun = 1 ORDER BY target`)).map(
      ({ target }) => target,
    )

  // The answer has the order of the plans.
  expect(jobs.map(({ target }) => target)).toEqual(['host', 'lxc:101', 'lxc:102', 'lxc:103'])
  await expect.poll(begun).toEqual(['lxc:102', 'lxc:103'])
  release()
  for (const { job_id } of jobs) await all.ended(job_id)
  const order = await rows(all.app.db, `SELECT target, late FROM jobs WHERE kind = 'upgrade' ORDER BY late, target`)
  expect(order).toEqual([
    { target: 'lxc:102', late: 0 },
    { target: 'lxc:103', late: 0 },
    { target: 'lxc:101', late: 2 },
    { target: 'host', late: 3 },
  ])
  const launched = all.app.ran.flatMap(({ command }) =>
    command.includes('ops-panel-planned') ? [command.join(' ')] : [],
  )
  expect(launched.at(-1)).not.toContain('pct')
  expect(launched.at(-2)).toContain(' 101 ')
})
