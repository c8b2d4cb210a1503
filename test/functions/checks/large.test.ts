import { expect, test } from 'vitest'
import * as z from 'zod'
import { CHECK } from '../../../functions/checks/check-script.ts'
import checks from '../../../functions/checks/checks.get.ts'
import startChecks from '../../../functions/checks/checks.post.ts'
import job from '../../../functions/jobs/job.get.ts'
import { FOLLOW, OUTPUT_MARK, START } from '../../../jobs/script.ts'
import { testApp } from '../../app.ts'
import { answered } from '../answers.ts'

const PATH = '/api/updates/checks'
const LIST = `VMID       Status     Lock         Name
101        running                 many
102        running                 most
103        running                 few
`

/** The host's answers to a check of these inspections. */
function checkHost(inspections: Readonly<Record<string, string>>) {
  let mark = ''
  return (command: readonly string[]) => {
    if (command[1] === 'list') return { stdout: LIST }
    if (command[2] === START) mark = command[command.indexOf(CHECK) + 2] ?? ''
    if (command[2] !== FOLLOW) return {}
    const block = ([name, text]: [string, string]) =>
      `${mark} ${name} 0\n${text.replace(/^/gm, ' ')}\n${mark} end ${name}\n`
    const text = Object.entries({ list: LIST, ...inspections })
      .map(block)
      .join('')
    return { stdout: `${OUTPUT_MARK}\n${text}`, stderr: `ops-panel exit 0 ${Buffer.byteLength(text)}\n` }
  }
}

function inspectionOf(packages: number): string {
  const planned = Array.from({ length: packages }, (_, n) => ` Inst p${n} [1] (2 Debian:12/stable [amd64])\n`).join('')
  const sections = [
    'update\n code 0',
    'lists\n 2',
    'check\n code 0',
    'upgradable\n code 0',
    `planned\n${planned} code 0`,
  ]
  return `os\n ID=debian\n\nmanager apt-get\n${sections.join('\n')}\nend\n`
}

const Started = z.looseObject({ job_id: z.string() })
const Job = z.looseObject({ status: z.string() })

test('thousands of packages of a target are stored; too many of another are not, and the next target is unaffected', async () => {
  const exec = checkHost({
    host: inspectionOf(0),
    'lxc:101': inspectionOf(10_001),
    'lxc:102': inspectionOf(10_000),
    'lxc:103': inspectionOf(1),
  })
  const app = await testApp([startChecks, checks, job], { fake: { exec } })
  const read = async (path: string) => answered(await app.request('GET', path, { as: 'user' }), 200)

  const answer = await app.request('POST', PATH, { as: 'user', body: { target: 'all' } })
  const id = Started.parse(await answered(answer, 202)).job_id
  const status = async () => Job.parse(await read(`/api/updates/jobs/${id}?output=none`)).status
  await expect.poll(status).toBe('success')

  expect(await read(PATH)).toMatchObject({
    checks: [
      { target: 'host', state: 'up_to_date' },
      { target: 'lxc:101', state: 'unknown', counts: { upgrade: 0 } },
      { target: 'lxc:102', state: 'ready', counts: { upgrade: 10_000 } },
      { target: 'lxc:103', state: 'ready', counts: { upgrade: 1 } },
    ],
  })
})
