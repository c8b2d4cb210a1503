import { expect } from 'vitest'
import * as z from 'zod'
import check from '../../../functions/checks/check.get.ts'
import checks from '../../../functions/checks/checks.get.ts'
import { CHECK } from '../../../functions/checks/check-script.ts'
import startChecks from '../../../functions/checks/checks.post.ts'
import job from '../../../functions/jobs/job.get.ts'
import { PLAN } from '../../../functions/plans/plan-script.ts'
import plans from '../../../functions/plans/plans.post.ts'
import noteStanding from '../../../functions/restarts/note-standing.task.ts'
import run from '../../../functions/runs/run.post.ts'
import runs from '../../../functions/runs/runs.post.ts'
import { FOLLOW, OUTPUT_MARK, START } from '../../../jobs/script.ts'
import { STANDING } from '../../../functions/restarts/standing-script.ts'
import { type TargetFacts, targetFactsOf } from '../../../functions/restarts/standing-facts.ts'
import { ownPlace } from '../../../platform/program.ts'
import type { Command } from '../../../ssh/command.ts'
import { testApp } from '../../app.ts'
import { run as runHere } from '../../ssh/host-shell.ts'
import { answered } from '../answers.ts'

const Started = z.looseObject({ job_id: z.string() })
const Finding = z.looseObject({
  code: z.string(),
  severity: z.string(),
  message: z.string(),
  packages: z.array(z.string()),
})
const Found = z.looseObject({ target: z.string(), state: z.string().default(''), findings: z.array(Finding) })

/** A target of the host: what its inspection tells of its place, and the packages that would be upgraded. */
export interface Ground {
  standing?: readonly string[]
  packages?: readonly string[]
}

/** The boot id and the pid namespace of this process, as an inspection in the same place tells them. */
export async function here(): Promise<{ boot: string; namespace: string; place: string }> {
  const own = await ownPlace()
  if (!own) throw new Error('this system does not tell where a process runs')
  return { ...own, place: `place ${own.boot} pid:[${own.namespace}]` }
}

/** The app in front of a host whose targets tell where they are. The containers are those of `grounds`, all running. */
export async function standingApp(grounds: Record<string, Ground>, env: Record<string, string> = {}) {
  let mark = ''
  let target = ''
  const list = () =>
    Object.keys(grounds)
      .filter((name) => name !== 'host')
      .map((name) => `${name.slice(4)} running ct-${name.slice(4)}\n`)
  const app = await testApp([check, checks, startChecks, job, plans, run, runs], {
    env,
    fake: {
      exec(command: Command) {
        if (command[1] === 'list' || command.at(-1) === 'list')
          return { stdout: `VMID Status Lock Name\n${list().join('')}` }
        if (command.includes(PLAN)) return { stdout: simulated(grounds[target]?.packages ?? []) }
        const at = command.indexOf(CHECK)
        if (command[2] === START) mark = at > 0 ? (command[at + 2] ?? '') : ''
        if (command[2] !== FOLLOW) return {}
        const blocks = Object.entries(grounds).map(([name, ground]) => block(mark, `${name} 0`, inspection(ground)))
        const text =
          mark === ''
            ? 'upgraded\n'
            : block(mark, 'list 0', `VMID Status Lock Name\n${list().join('')}`) + blocks.join('')
        return { stdout: `${OUTPUT_MARK}\n${text}`, stderr: `ops-panel exit 0 ${Buffer.byteLength(text)}\n` }
      },
    },
  })
  const send = (method: string, path: string, body?: object) => app.request(method, path, { as: 'user', body })
  const ended = async (id: string) => {
    const status = async () =>
      z.looseObject({ status: z.string() }).parse(await answered(await send('GET', `/api/updates/jobs/${id}`), 200))
        .status
    await expect.poll(status).not.toBe('running')
  }
  return {
    app,
    send,
    ended,
    grounds,
    /** Lets the instance note its own place. */
    note: () => noteStanding.run(app.services),
    /** Checks everything. */
    async look() {
      await ended(
        Started.parse(await answered(await send('POST', '/api/updates/checks', { target: 'all' }), 202)).job_id,
      )
    },
    async found(name: string) {
      return Found.parse(await answered(await send('GET', `/api/updates/checks/${name}`), 200))
    },
    async listed() {
      return z.object({ checks: z.array(Found) }).parse(await answered(await send('GET', '/api/updates/checks'), 200))
        .checks
    },
    /** Makes a plan of everything that the target offers. */
    async plan(name: string) {
      target = name
      return Found.extend({ id: z.string() }).parse(
        await answered(await send('POST', '/api/updates/plans', { target: name }), 201),
      )
    },
  }
}

/** Only the findings about the panel itself. */
export function ofPanel({ findings }: z.infer<typeof Found>) {
  return findings.filter(({ code }) => code === 'self_impact' || code === 'application_update')
}

function block(mark: string, name: string, text: string): string {
  return `${mark} ${name}\n${text.replace(/^/gm, ' ')}\n${mark} end ${name.split(' ')[0]}\n`
}

const line = (name: string) => `Inst ${name} [1.0] (2.0 Debian:12/stable [amd64])`

function inspection({ standing = [], packages = [] }: Ground): string {
  const sections = {
    os: ['ID=debian', 'VERSION_ID="12"'],
    standing,
    update: ['code 0'],
    lists: ['2'],
    check: ['code 0'],
    planned: [...packages.map(line), 'code 0'],
    upgradable: ['Listing...', 'code 0'],
  }
  return printed(sections)
}

/** Prints sections as the scripts on a target do. */
function printed(sections: Record<string, readonly string[]>): string {
  const texts = Object.entries(sections).map(
    ([name, lines]) => `${name}\n${lines.map((each) => ` ${each}\n`).join('')}\n`,
  )
  return `manager apt-get\n${texts.join('')}end\n`
}

function simulated(packages: readonly string[]): string {
  const sections = {
    unfinished: [],
    planned: [...packages.map(line), 'code 0'],
    offered: [],
    installed: [],
    conffiles: [],
    disk: [],
  }
  return printed(sections)
}

/** The lines that this machine tells of its place, by the part of an inspection. `path` is where its programs are looked for. */
export async function told(path = process.env.PATH ?? ''): Promise<TargetFacts | undefined> {
  const section = 'section() { cat; }\n'
  const { stdout } = await runHere([
    'env',
    `PATH=${path}:/usr/sbin:/sbin`,
    'LC_ALL=C',
    '/bin/sh',
    '-c',
    section + STANDING,
  ])
  return targetFactsOf(stdout.toString().split('\n'))
}
