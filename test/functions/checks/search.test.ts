import { expect, test } from 'vitest'
import * as z from 'zod'
import { CHECK } from '../../../functions/checks/check-script.ts'
import startChecks from '../../../functions/checks/checks.post.ts'
import search from '../../../functions/checks/search.get.ts'
import job from '../../../functions/jobs/job.get.ts'
import { FOLLOW, OUTPUT_MARK, START } from '../../../jobs/script.ts'
import { START as NOW, testApp } from '../../app.ts'
import { answered, refused } from '../answers.ts'
import { debsecanList } from '../vulnerabilities/lists.ts'

const PATH = '/api/updates/search'
const LIST = `VMID       Status     Lock         Name
101        running                 web
102        running                 db
103        running                 mail
`

/** An inspection that plans these upgrades, each `name source`. */
function inspectionOf(packages: readonly string[]): string {
  const named = packages.map((text) => text.split(' '))
  const planned = named.map(([name]) => ` Inst ${name} [1.0] (2.0 Debian:12/stable [amd64])\n`)
  const sections = [
    'update\n code 0',
    'lists\n 2',
    'check\n code 0',
    'upgradable\n code 0',
    `planned\n${planned.join('')} code 0`,
    `offered\n${named.map(([name, source]) => ` ${name} amd64 2.0 100 ${source}\n`).join('')}`,
    `installed\n${named.map(([name, source]) => ` ${name} amd64 ${source} 1.0\n`).join('')}`,
  ]
  return `os\n ID=debian\n VERSION_ID="12"\n VERSION_CODENAME=bookworm\n\nmanager apt-get\n${sections.join('\n')}\nend\n`
}

/** The host’s answers to a check of these packages on each target. */
function checkHost(packages: Readonly<Record<string, readonly string[]>>) {
  let mark = ''
  return (command: readonly string[]) => {
    if (command[1] === 'list') return { stdout: LIST }
    if (command[2] === START) mark = command[command.indexOf(CHECK) + 2] ?? ''
    if (command[2] !== FOLLOW) return {}
    const inspections = Object.entries(packages).map(([name, list]) => [name, inspectionOf(list)] as const)
    const text = [['list', LIST] as const, ...inspections]
      .map(([name, block]) => `${mark} ${name} 0\n${block.replace(/^/gm, ' ')}\n${mark} end ${name}\n`)
      .join('')
    return { stdout: `${OUTPUT_MARK}\n${text}`, stderr: `ops-panel exit 0 ${Buffer.byteLength(text)}\n` }
  }
}

const Started = z.looseObject({ job_id: z.string() })
const Job = z.looseObject({ status: z.string() })

/** The service after a check that found these packages; `find` returns the targets of an answer. */
async function checkedApp(packages: Readonly<Record<string, readonly string[]>>) {
  const app = await testApp([startChecks, search, job], { fake: { exec: checkHost(packages) } })
  await app.services.db.run(
    `INSERT INTO security_data (name, body, fetched_at, tried_at) VALUES ('cve:bookworm', ?, ?, ?)`,
    [debsecanList(['CVE-2026-0001'], ['openssl,0,S HRF,2.0,']), NOW.toISOString(), NOW.toISOString()],
  )
  const read = async (path: string) => answered(await app.request('GET', path, { as: 'user' }), 200)
  const started = await app.request('POST', '/api/updates/checks', { as: 'user', body: { target: 'all' } })
  const id = Started.parse(await answered(started, 202)).job_id
  await expect.poll(async () => Job.parse(await read(`/api/updates/jobs/${id}`)).status).toBe('success')
  const find = (q: string) => read(`${PATH}?q=${encodeURIComponent(q)}`)
  return { app, find }
}

test('a search finds every target with the package, its source or the vulnerability, the host first', async () => {
  const { app, find } = await checkedApp({
    host: ['tzdata tzdata'],
    'lxc:101': ['libssl3 openssl', 'curl curl'],
    'lxc:102': ['tzdata tzdata'],
    'lxc:103': [],
  })
  const commands = app.ran.length

  expect(await find('tzdata')).toEqual({ targets: ['host', 'lxc:102'] })
  expect(await find('LibSSL')).toEqual({ targets: ['lxc:101'] })
  expect(await find('openssl')).toEqual({ targets: ['lxc:101'] })
  expect(await find('cve-2026-0001')).toEqual({ targets: ['lxc:101'] })
  expect(await find('nginx')).toEqual({ targets: [] })
  // The database alone answers.
  expect(app.ran.length).toBe(commands)
})

test('fields, versions and repositories of the stored lists are not names, and odd characters match nothing', async () => {
  const { find } = await checkedApp({ host: ['tzdata tzdata'], 'lxc:101': ['curl curl'] })

  for (const q of ['name', 'upgrade', '2.0', 'Debian', '"},', '%%', 'é\\', '\0\0'])
    expect(await find(q)).toEqual({ targets: [] })
})

test('the last of thousands of packages is found', async () => {
  const many = Array.from({ length: 2_999 }, (_, n) => `p${n} s${n}`)
  const { find } = await checkedApp({ host: [...many, 'last end'], 'lxc:101': many })

  expect(await find('last')).toEqual({ targets: ['host'] })
  expect(await find('s2998')).toEqual({ targets: ['host', 'lxc:101'] })
})

test('a search has 2 to 100 characters and needs a session', async () => {
  const { app } = await checkedApp({})
  const ask = (q: string, as?: 'user') => app.request('GET', `${PATH}?q=${q}`, as ? { as } : {})

  for (const q of ['', 'x', 'x'.repeat(101)]) await refused(await ask(q, 'user'), 400, 'invalid_request')
  await answered(await ask('x'.repeat(100), 'user'), 200)
  await refused(await ask('curl'), 401, 'unauthenticated')
})
