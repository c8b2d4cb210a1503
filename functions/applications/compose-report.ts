import { createHash } from 'node:crypto'
import { type Host, script } from '../../ssh/ssh.ts'
import { inContainer } from '../hypervisor/pct.ts'
import { withoutControls } from '../managers/sections.ts'
import { ApplicationId, type FoundApplication } from './application.ts'
import { COMPOSE } from './compose.ts'
import { ASKED, type LookProblem } from './look-problems.ts'
import type { Reading } from './source.ts'

/** Lines of one look; the look bounds its stacks and containers to fewer. */
const MOST_LINES = 2_000
const LONGEST_VERSION = 200

/** The findings of a look at the stacks of one target. `problems`: what it cannot tell; it is not up to date then. */
export interface ComposeReport {
  applications: FoundApplication[]
  problems: LookProblem[]
  /** The services of each stack by the id of its application, for people who are asked to agree. */
  services: Map<string, ComposeService[]>
}

export interface ComposeService {
  service: string
  image: string
  /** The digest of the image that runs, or its id where it has none. */
  from: string
  /** The result of a run: a digest of the registry, or the id of an image in the target. Equal to `from` for none. */
  to: string
  /** Whether the registry was asked. */
  isKnown: boolean
  containers: number
}

const PROJECT = /^[a-z0-9][a-z0-9_-]{0,199}$/
const SERVICE = /^[A-Za-z0-9._-]{1,200}$/
const IMAGE = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,299}$/
const SHA = /^sha256:[0-9a-f]{64}$/
const ACTIONS = new Set(['keep', 'pull', 'local', 'unknown'])

interface Stack {
  files: string
  config: string | null
  lines: string[]
  services: (ComposeService & { isChange: boolean })[]
}

/** Reads the lines of `compose_look`; undefined when they are not whole, or not as they must be. */
export function composeReport(lines: readonly string[]): ComposeReport | undefined {
  if (lines.length > MOST_LINES || lines.at(-1) !== 'code|0') return undefined
  const problems: LookProblem[] = []
  const stacks = new Map<string, Stack>()
  for (const line of lines.slice(0, -1)) {
    const [word, ...fields] = line.split('|')
    const [name = ''] = fields
    if (word === 'problem' && fields.length === 2 && (name === '-' || PROJECT.test(name))) {
      problems.push({ kind: 'compose', name: name === '-' ? null : name, message: (fields[1] ?? '').slice(0, 300) })
      continue
    }
    if (word === 'project' && fields.length === 3 && PROJECT.test(name) && !stacks.has(name)) {
      const [, files = '', config = ''] = fields
      if (config !== '-' && !/^[0-9a-f]{64}$/.test(config)) return undefined
      stacks.set(name, { files, config: config === '-' ? null : config, lines: [line], services: [] })
      continue
    }
    // The lines are sorted: that of a stack comes first.
    const stack = stacks.get(name)
    const service = word === 'service' && stack ? serviceOf(fields) : undefined
    if (!stack || !service) return undefined
    stack.lines.push(line)
    stack.services.push(service)
  }
  const report: ComposeReport = { applications: [], problems, services: new Map() }
  for (const [name, stack] of stacks) {
    const id = ApplicationId.safeParse(`compose:${name}`)
    if (!id.success) return undefined
    report.applications.push(applicationOf(id.data, name, stack))
    report.services.set(
      id.data,
      stack.services.map(({ isChange: _, ...service }) => service),
    )
  }
  return report
}

function serviceOf(fields: readonly string[]): Stack['services'][number] | undefined {
  const [, service = '', image = '', id = '', was = '', action = '', target = '', count = '', state = ''] = fields
  const isReadable =
    fields.length === 9 &&
    SERVICE.test(service) &&
    IMAGE.test(image) &&
    SHA.test(id) &&
    (was === '-' || SHA.test(was)) &&
    ACTIONS.has(action) &&
    (SHA.test(target) || (target === '-' && action !== 'keep' && action !== 'pull')) &&
    /^[1-9]\d{0,3}$/.test(count) &&
    (state === 'up' || state === 'once')
  if (!isReadable) return undefined
  const isOfRegistry = action === 'keep' || action === 'pull'
  const from = isOfRegistry && was !== '-' ? was : id
  const isChange = action === 'pull' || (!isOfRegistry && target !== '-' && target !== id)
  const to = isChange ? target : from
  return { service, image, from, to, isKnown: action !== 'unknown', containers: Number(count), isChange }
}

/**
 * The digest of the lines about one stack, as a run computes it: the whole configuration, every service with its image,
 * and the digests to pull.
 */
function composeDigest(lines: readonly string[]): string {
  return createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('hex')
}

function applicationOf(id: string, name: string, { files, config, lines, services }: Stack): FoundApplication {
  const changes = services.filter(({ isChange }) => isChange)
  return {
    id,
    kind: 'compose',
    name,
    version: versionOf(services.map(({ image, from }) => [image, from])),
    available: versionOf(changes.map(({ image, to }) => [image, to])),
    source: { address: files.slice(0, 500), digest: config === null ? null : composeDigest(lines) },
    updatable: config !== null && changes.length > 0,
  }
}

/** Names images with the beginning of their digests, once each; null for none. */
function versionOf(images: readonly (readonly [image: string, digest: string])[]): string | null {
  const named = images.map(([image, digest]) => `${image.replace(/@.*/, '')} ${digest.slice(7, 19)}`)
  const text = [...new Set(named)].join(', ')
  if (text === '') return null
  return text.length > LONGEST_VERSION ? `${text.slice(0, LONGEST_VERSION - 1)}…` : text
}

/** Prints what a look at one stack tells: `STACK_LOOK <project>`, inside a container. */
export const STACK_LOOK = `
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin:/usr/bin:/bin"
unset TMPDIR TEMPDIR TMP TEMP
${ASKED}${COMPOSE}
compose_look "$1" </dev/null 2>/dev/null
`
/** The look asks for up to 25 s, and each program that it asks has 30 s at most. */
const WITHIN_MS = 120_000

/**
 * Looks at a stack once more, the registry included. The changes that a run would make are one text, whose address are the
 * files of the stack. The files themselves stay in the container, as they may have passwords in them; the digest is also
 * of them, with all their variables. Rejects with an SshError.
 */
export async function readStack(
  host: Host,
  { id, project, user }: { id: string; project: string; user: number },
): Promise<Reading> {
  const command = inContainer(id, script(STACK_LOOK, 'ops-panel-stack', project))
  const output = await host.exec(command, { user, timeoutMs: WITHIN_MS, rights: 'command' })
  if (output.code !== 0) return { kind: 'failed', output }
  const report = composeReport(output.stdout.split('\n').filter((line) => line !== ''))
  const stack = report?.applications.find(({ name }) => name === project)
  const away = (reason: string): Reading => ({ kind: 'away', address: stack?.source?.address ?? project, reason })
  const digest = stack?.source?.digest
  if (!report || !stack || !digest) return away(report?.problems[0]?.message ?? 'it is not there any more')
  if (!stack.updatable) return away('there is nothing newer')
  const text = linesOf(report.services.get(stack.id) ?? [])
  const own = createHash('sha256').update(text).digest('hex')
  const address = withoutControls(stack.source?.address ?? project)
  const files = [{ address, digest: own, size: Buffer.byteLength(text), text }]
  return { kind: 'read', source: { address, digest, files, refused: [] } }
}

/** A line for each service: its image, and the digests before and after, or the one that stays. */
function linesOf(services: readonly ComposeService[]): string {
  return services
    .map(({ service, image, from, to, isKnown }) => {
      const change = from === to ? from : `${from} -> ${to}`
      return `${service}: ${image}\n  ${change}${isKnown ? '' : ' ?'}\n`
    })
    .join('')
}
