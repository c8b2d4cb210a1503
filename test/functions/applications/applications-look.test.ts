import { expect, test } from 'vitest'
import { APPLICATIONS, reportedApplications } from '../../../functions/applications/applications-look.ts'
import { readBlocks } from '../../../functions/checks/check-blocks.ts'
import { INSPECTION } from '../../../functions/checks/check-script.ts'
import { partsOf } from '../../../functions/managers/sections.ts'
import { en } from '../../../panel/words/en.ts'
import { scriptPlace } from './script-place.ts'

const ADDRESS = 'https://raw.githubusercontent.com/community-scripts/ProxmoxVE/main/ct/app.sh'
const SCRIPT = `community_script|app|1.0|${ADDRESS}|whole`
const SECTION = `section() { echo "$1"; sed 's/^/ /'; echo; }`

const sections = (of: Record<string, string[]>) => new Map(Object.entries(of))

/** The lines of a target's output, as a check reads them. */
async function blockOf(output: string): Promise<string[]> {
  const block = `m lxc:101 0\n${output.replaceAll(/^/gm, ' ')}\nm end lxc:101\n`
  const pieces = (async function* () {
    yield Buffer.from(block)
  })()
  let found: string[] = []
  await readBlocks(pieces, 'm', async ({ lines }) => {
    found = lines
  })
  return found
}

/** Runs the part of an inspection that finds applications, in a container with these programs. */
async function looked(programs: Record<string, string>, { begun = 0 } = {}) {
  const place = await scriptPlace()
  place.put('usr/bin/update', `bash -c "$(curl -fsSL ${ADDRESS})"`)
  place.put('root/.app', '1.0')
  const functions = Object.entries(programs).map(([name, text]) => `${name}() { ${text}\n}`)
  const began = `begun=$(($(date +%s) - ${begun}))`
  const [first] = /^look_within \d+ community/m.exec(APPLICATIONS) ?? ['']
  const text = `${SECTION}\n${began}\n${APPLICATIONS.replace(first, `${functions.join('\n')}\n${first}`)}\necho end`
  const { status, stdout } = place.shell(text)
  expect(status).toBe(0)
  const { words, sections: found } = await partsOf(await blockOf(stdout))
  expect(words.has('end')).toBe(true)
  return reportedApplications(found, 'container')
}

test('a container without Docker, flatpak and snap has its community script alone, and nothing is unknown', async () => {
  const { applications, findings } = await looked({ compose_look: 'echo "code|0"', people_look: 'echo "code|0"' })

  expect(applications.map(({ id, version }) => [id, version])).toEqual([['community_script:app', '1.0']])
  expect(findings).toMatchObject([
    {
      code: 'application_update',
      severity: 'info',
      packages: ['app'],
      message: 'Se met à jour par son propre script, et non par les paquets : app (1.0).',
    },
  ])
})

test('a look that does not end takes nothing from the inspection, and is told as unknown', async () => {
  const began = Date.now()
  const { applications, findings } = await looked(
    { compose_look: 'while :; do sleep 0.2; done', people_look: 'echo "code|0"' },
    { begun: 98 },
  )

  expect(Date.now() - began).toBeLessThan(30_000)
  expect(applications).toHaveLength(1)
  expect(findings.at(-1)).toMatchObject({
    severity: 'warning',
    message: 'Application non vérifiée — compose : la réponse n’est pas complète.',
  })
}, 60_000)

test('without time left no look begins, and all of them are unknown', async () => {
  const { findings } = await looked({ compose_look: 'echo "code|0"', people_look: 'echo "code|0"' }, { begun: 104 })

  expect(findings.map(({ severity, message }) => [severity, message])).toEqual([
    ['warning', 'Application non vérifiée — community_script : la réponse n’est pas complète.'],
    ['warning', 'Application non vérifiée — compose : la réponse n’est pas complète.'],
    ['warning', 'Application non vérifiée — flatpak : la réponse n’est pas complète.'],
  ])
})

test('a look at the community script that does not end is told, and takes nothing from the others', async () => {
  const { applications, findings } = await looked(
    {
      community_script: 'while :; do sleep 0.2; done',
      compose_look: 'echo "code|0"',
      people_look: 'printf "snap|lxd|5.0|9\\ncode|0\\n"',
    },
    { begun: 85 },
  )

  expect(applications.map(({ id }) => id)).toEqual(['snap:lxd'])
  expect(findings.map(({ severity, message }) => [severity, message])).toEqual([
    ['warning', 'Application non vérifiée — community_script : la réponse n’est pas complète.'],
  ])
}, 60_000)

test('without room for temporary files, all of them are unknown', async () => {
  const { applications, findings } = await looked({ mktemp: 'return 1' })

  expect(applications).toEqual([])
  expect(findings).toHaveLength(3)
})

test('what a look has told is in a folder of its own account', async () => {
  const told = 'ls -ld "$looked" | cut -c 1-10 | sed "s/.*/problem|flatpak|&/"; echo "code|0"'
  const { findings } = await looked({ people_look: told, compose_look: 'echo "code|0"' })

  expect(findings.at(-1)?.message).toBe('Application non vérifiée — flatpak : drwx------')
})

test('the host has no community script, and its stacks are not updated by the panel', () => {
  const sha = (letter: string) => `sha256:${letter.repeat(64)}`
  const compose = [
    `project|web|/opt/web/compose.yaml|${'c'.repeat(64)}`,
    `service|web|app|nginx:latest|${sha('1')}|${sha('a')}|pull|${sha('b')}|1|up`,
    'code|0',
  ]
  const all = sections({ community: [SCRIPT, 'code|0'], compose, people: ['code|0'] })
  const host = reportedApplications(all, 'host')
  const container = reportedApplications(all, 'container')

  expect(host.applications.map(({ id, updatable }) => [id, updatable])).toEqual([['compose:web', false]])
  expect(container.applications.map(({ id, updatable }) => [id, updatable])).toEqual([
    ['community_script:app', true],
    ['compose:web', true],
  ])
  expect(container.findings.map(({ message }) => message)).toContain(
    'Une version plus récente de ces applications est proposée : web.',
  )
})

test('an earlier inspection, without these sections, tells nothing of applications', () => {
  expect(reportedApplications(new Map(), 'container')).toEqual({ applications: [], findings: [] })
})

test('a section that is not whole, or that a container forges, is no list without anything newer', () => {
  for (const compose of [[], ['project|web'], ['code|1'], ['x'], Array(3_000).fill('service|a')]) {
    const { findings } = reportedApplications(sections({ compose, people: ['code|0'] }), 'container')
    expect(findings).toMatchObject([{ code: 'application_update', severity: 'warning' }])
  }
  const { applications } = reportedApplications(
    sections({ community: [SCRIPT, SCRIPT, SCRIPT, 'code|0'] }),
    'container',
  )
  expect(applications).toHaveLength(1)
})

test('more applications than are kept, or one that cannot be stored, are told, as one of them may have something newer', () => {
  const many = Array.from({ length: 201 }, (_, at) => `snap|app${at}|1.0|1`)
  const long = `flatpak|${'a'.repeat(201)}|1.0|1`
  for (const people of [
    [...many, 'snap_newer|app200|2.0|2', 'code|0'],
    [long, long.replace('flatpak', 'flatpak_newer'), 'code|0'],
  ]) {
    const { findings } = reportedApplications(sections({ compose: ['code|0'], people }), 'container')
    expect(findings.at(-1)).toMatchObject({
      severity: 'warning',
      message: expect.stringMatching(/^Application non vérifiée — (?:snap|flatpak) : la réponse n’est pas complète\.$/),
    })
  }
})

test('the English of these findings says the same', () => {
  const compose = ['problem|-|the Docker engine does not run', 'code|0']
  const { findings } = reportedApplications(
    sections({ community: [SCRIPT, 'code|0'], compose, people: ['code|0'] }),
    'container',
  )

  expect(findings.map((finding) => en.findings.sentence(finding))).toEqual([
    'Updated by a script of its own, not by packages: app (1.0).',
    'Application not checked — compose: the Docker engine does not run.',
  ])
})

test('the inspection looks at applications at its end, and fits into one argument with all of it', () => {
  expect(INSPECTION).toContain(APPLICATIONS.trim())
  expect(Buffer.byteLength(INSPECTION.replaceAll("'", `'\\''`))).toBeLessThan(100_000)
})
