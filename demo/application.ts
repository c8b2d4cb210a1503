import { createHash } from 'node:crypto'
import { ASKS, NOT_BEGUN, SOURCE_CHANGED, VERSION_LINE } from '../functions/applications/run-script.ts'
import type { Applications } from './applications.ts'
import { type Process, type Program, pause } from './process.ts'
import { breakBy } from './protection/vitals.ts'

/** The text that the imitated network gives for an address of code. */
export function codeOf(address: string): string {
  return `#!/usr/bin/env bash\n# ${address}\necho "Updated successfully!"\n`
}

/** The SHA-256 of a text, in hexadecimal digits. */
export function digestOfText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

const textAt = ({ place }: Process, address: string) => place.applications?.script?.files[address] ?? codeOf(address)

/** The sections of an inspection about the applications of a place; none where it has none. */
export function applicationSections({ place: { applications } }: Process): [string, string[]][] {
  if (!applications) return []
  const { script, stacks = [], people = [] } = applications
  const [address = ''] = Object.keys(script?.files ?? {})
  return [
    [
      'community',
      [...(script ? [['community_script', script.name, script.version, address, 'whole'].join('|')] : []), 'code|0'],
    ],
    ['people', [...people, 'code|0']],
    ['compose', stackLines(stacks)],
  ]
}

/** The lines of `compose_look` about these stacks. */
function stackLines(stacks: NonNullable<Applications['stacks']>): string[] {
  const sha = (text: string) => `sha256:${digestOfText(text)}`
  const lines = stacks.flatMap(({ name, folder, services }) => [
    ...services.flatMap(({ image, newest }) =>
      newest ? [] : [`problem|${name}|${image}: the registry was not asked`],
    ),
    `project|${name}|${folder}/compose.yaml|${digestOfText(`${folder} ${services.map(({ image }) => image).join()}`)}`,
    ...services.map((one) => {
      const { image, digest, newest } = one
      const id = sha(`${image} ${digest}`)
      const action = newest === undefined ? 'unknown' : newest === digest ? 'keep' : 'pull'
      const end = newest === undefined ? id : sha(newest)
      return ['service', name, one.name, image, id, sha(digest), action, end, 1, 'up'].join('|')
    }),
  ])
  return [...lines, 'code|0']
}

/** Imitates `STACK_LOOK`. */
export const lookAtStack: Program = async ([project], { place, stdout }) => {
  const found = place.applications?.stacks?.filter(({ name }) => name === project) ?? []
  await stdout(`${stackLines(found).join('\n')}\n`)
  return 0
}

/** Imitates `FETCH`. */
export const fetchCode: Program = async (addresses, process) => {
  const { machine, signal, stdout } = process
  for (const [at, address] of addresses.entries()) {
    await pause(machine.lineMs, signal)
    const text = textAt(process, address)
    await stdout(`file ${at} ${digestOfText(text)}\n ${Buffer.from(text).toString('base64')}\n`)
  }
  await stdout('end\n')
  return 0
}

/** Imitates `RUN_SCRIPT`: an application that its script brings to the next version, unless it asks something. */
export const runApplication: Program = async ([_name, count = '0', ...words], process) => {
  const { place, machine, signal, stdout } = process
  const pinned = words.slice(Number(count))
  for (let at = 0; at + 1 < pinned.length; at += 2) {
    const [digest, address = ''] = [pinned[at], pinned[at + 1]]
    if (digestOfText(textAt(process, address)) === digest) continue
    await stdout(`ops-panel: ${address} gives something else than what was agreed to. Nothing was run.\n`)
    return SOURCE_CHANGED
  }
  const script = place.applications?.script
  if (script) {
    for (const line of [`Stopping ${script.name}`, `Creating a copy of its data`, `Downloading ${script.next}`]) {
      await pause(10 * machine.lineMs, signal)
      await stdout(` ✔️   ${line}\n`)
    }
    if (script.asks !== undefined) {
      await stdout(
        `ops-panel: this update asks a question that nobody can answer here. It was stopped; run "update" in a terminal:\n  ${script.asks}\n`,
      )
      return ASKS
    }
    await pause(10 * machine.lineMs, signal)
    place.applications = { ...place.applications, script: { ...script, version: script.next } }
  }
  const [from, to] = script ? [script.version, script.next] : ['1.0', '1.1']
  await stdout(`Updated successfully!\n\n${VERSION_LINE}${from} -> ${to}\n`)
  return 0
}

/** Imitates `RUN_COMPOSE`: each service gets the newest image. A place that its upgrades break is broken by this, too. */
export const runStack: Program = async ([project, digest], { place, machine, signal, stdout }) => {
  const stacks = place.applications?.stacks ?? []
  const stack = stacks.find(({ name }) => name === project)
  if (!stack) {
    await stdout('ops-panel: nothing was changed: it is not there any more\n')
    return NOT_BEGUN
  }
  const lines = stackLines([stack]).filter((line) => /^(project|service)\|/.test(line))
  if (digestOfText(lines.map((line) => `${line}\n`).join('')) !== digest) {
    await stdout(`ops-panel: this is not what was agreed to any more\n${lines.map((line) => ` ${line}\n`).join('')}`)
    return SOURCE_CHANGED
  }
  const changed = stack.services.filter(({ digest: is, newest }) => newest !== undefined && newest !== is)
  for (const { name, image } of changed) {
    await stdout(` Image ${image} Pulling\n`)
    await pause(10 * machine.lineMs, signal)
    await stdout(
      ` Image ${image} Pulled\n Container ${project}-${name}-1 Recreated\n Container ${project}-${name}-1 Started\n`,
    )
  }
  const services = stack.services.map((one) => ({ ...one, digest: one.newest ?? one.digest }))
  place.applications = {
    ...place.applications,
    stacks: stacks.map((each) => (each === stack ? { ...stack, services } : each)),
  }
  breakBy(place)
  const told = (of: 'digest' | 'newest') =>
    changed.map((one) => `${one.image} ${digestOfText(one[of] ?? '').slice(0, 12)}`).join(', ')
  await stdout(`\n${VERSION_LINE}${told('digest')} -> ${told('newest')}\n`)
  return 0
}
