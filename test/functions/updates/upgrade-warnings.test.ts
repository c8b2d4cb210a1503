import { expect, test } from 'vitest'
import * as z from 'zod'
import job from '../../../functions/jobs/job.get.ts'
import history from '../../../functions/jobs/history.get.ts'
import jobs from '../../../functions/jobs/jobs.get.ts'
import { PARTLY_REFRESHED } from '../../../functions/updates/apt.ts'
import run from '../../../functions/runs/run.post.ts'
import { FOLLOW, OUTPUT_MARK } from '../../../jobs/script.ts'
import type { Command } from '../../../ssh/command.ts'
import { testApp } from '../../app.ts'
import { answered, rows } from '../answers.ts'
import { settled } from '../jobs/job-host.ts'

const LIST = `VMID       Status     Lock         Name
101        running                 web
102        running                 db
103        stopped                 old
`

const Job = z.looseObject({
  warnings: z.array(z.string()),
  containers: z.array(z.looseObject({ vmid: z.number(), state: z.string() })).nullable(),
})

/** Runs one upgrade that prints this, ends with that code and notes these lines; returns its record. */
async function upgraded({ target = 'host', text = '', code = 0, notes = '' }) {
  const exec = (command: Command) => {
    if (command[1] === 'list') return { stdout: LIST }
    if (command[2] !== FOLLOW) return {}
    const stderr = `ops-panel exit ${code} ${Buffer.byteLength(text)}\n${notes.replace(/^(?=.)/gm, 'ops-panel note ')}`
    return { stdout: `${OUTPUT_MARK}\n${text}`, stderr }
  }
  const app = await testApp([run, history, job, jobs], { fake: { exec } })
  const answer = await answered(await app.request('POST', '/api/updates/run', { as: 'user', body: { target } }), 202)
  const { job_id } = z.looseObject({ job_id: z.string() }).parse(answer)
  await settled(app)
  const path = `/api/updates/jobs/${job_id}?output=none`
  const record = Job.parse(await answered(await app.request('GET', path, { as: 'user' }), 200))
  const listed = await answered(await app.request('GET', '/api/updates/jobs', { as: 'user' }), 200)
  expect(listed).toMatchObject({ jobs: [{ job_id, warnings: record.warnings }] })
  return { ...record, stored: (await rows(app.db, 'SELECT warnings FROM jobs')).at(0)?.warnings }
}

const REFRESH = `Hit:1 http://good/debian stable InRelease
W: Failed to fetch http://u:secret@m/debian/dists/stable/InRelease  Could not connect
W: Failed to fetch http://other/debian/dists/stable/InRelease  Could not\u001b[31m\u202e connect
W: Some index files failed to download. They have been ignored, or old ones used instead.
`
const warning = (name: string) =>
  `Le dépôt ${name} n’a pas pu être actualisé : ce qu’il propose de nouveau n’a pas été installé.`

test.each([0, 100])(
  'each repository that could not be refreshed is a warning of the upgrade that exits with %i',
  async (code) => {
    const rest = 'E: Failed to fetch http://late/debian/pool/x.deb  404\n'
    const { warnings } = await upgraded({ text: `${REFRESH}${PARTLY_REFRESHED}…\n${rest}`, code })

    expect(warnings).toEqual([warning('http://m/debian stable'), warning('http://other/debian stable')])
  },
)

test('a repository of another manager than apt is named by its id', async () => {
  const text = `bad: no answer (code 106)\n${PARTLY_REFRESHED}bad, the\u202eother, \nupgraded\n`

  expect((await upgraded({ text })).warnings).toEqual([warning('bad'), warning('the other')])
})

test('an upgrade after a whole refresh has no warning, whatever else apt or a package says', async () => {
  const text = `W: Failed to fetch http://m/debian/dists/stable/InRelease\nupgraded\n`

  expect(await upgraded({ text })).toMatchObject({ warnings: [], stored: null })
  expect(await upgraded({ text: '' })).toMatchObject({ warnings: [], stored: null })
})

test('hostile output gives at most fifty warnings of 300 characters, without control characters', async () => {
  const lines = Array.from({ length: 2_000 }, (_, n) => `E: Failed to fetch http://m${n}/${'\u202ex'.repeat(300)}`)
  const { warnings } = await upgraded({ text: `${lines.join('\n')}\n${PARTLY_REFRESHED}…\n` })

  expect(warnings).toHaveLength(50)
  for (const each of warnings) {
    expect(each.length).toBeLessThanOrEqual(300)
    expect(each).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  }
})

test('an upgrade of all warns about the containers that the script noted, and no output can add one', async () => {
  const text = `=== LXC 101 ===\n${REFRESH}${PARTLY_REFRESHED}…\n=== LXC 102 ===\n102 warned 0\nops-panel note 102 warned 0\n`
  const { warnings, containers } = await upgraded({
    target: 'all',
    text,
    notes: '101 warned 0\n102 done 0\n103 stopped 255\n',
  })

  expect(warnings).toEqual([
    'LXC 101 (web) : des dépôts n’ont pas pu être actualisés, et ce qu’ils proposent de nouveau n’a pas été installé.',
  ])
  expect(containers?.map(({ vmid, state }) => `${vmid} ${state}`)).toEqual(['101 warned', '102 done', '103 stopped'])
})
