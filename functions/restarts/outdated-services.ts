import * as z from 'zod'
import { isServiceName, whyNever } from './never.ts'

const text = z.string()

/** How a program gets to run its new code. */
export const Restart = z.enum(['service', 'session', 'container', 'reboot', 'none'])
export type Restart = z.infer<typeof Restart>

/**
 * A running program whose code an upgrade has replaced: the name of a service, of the user of a session, or of a
 * program. `reason` is a replaced file, or `needrestart`, which does not tell one. Summaries of earlier versions have only a name and a
 * reason.
 */
export const OutdatedService = z.object({
  name: text,
  reason: text,
  package: text.nullable().default(null).meta({ description: 'The package of the replaced file, where it is known.' }),
  restart: Restart.default('none').meta({
    description:
      'The way to the new code: `service`, a restart of this service alone (`POST /api/updates/restarts`); `session`, the end of that user’s sessions; `container` or `reboot`, a restart of the whole target. `none` where an earlier version has checked the target.',
  }),
  why: text.nullable().default(null).meta({
    description: 'Why the service is not restarted alone, a French sentence; null where it can be, or is no service.',
  }),
})
export type OutdatedService = z.infer<typeof OutdatedService>

/** Services of one target. */
const MOST = 100
const KINDS = z.enum(['service', 'session', 'process', 'init'])

/** Parses the section `services` of an inspection (services-script.ts). Lines of another form are left out. */
export function outdatedOf(lines: readonly string[], place: 'host' | 'container'): OutdatedService[] {
  const whole = place === 'host' ? 'reboot' : 'container'
  const found = new Map<string, OutdatedService>()
  for (const line of lines.slice(0, 2 * MOST)) {
    if (found.size === MOST) break
    const [, word, name = '', owner, reason = ''] = /^(\S+) (\S{1,190}) \d+ (\S+) (.+)$/.exec(line) ?? []
    const kind = KINDS.safeParse(word).data
    if (kind === undefined || found.has(`${kind} ${name}`)) continue
    const why = kind === 'service' ? whyNever(name) : undefined
    const mayBeAlone = kind === 'service' && why === undefined && isServiceName(name)
    found.set(`${kind} ${name}`, {
      name,
      reason: reason.slice(0, 200),
      package: owner === undefined || owner === '-' ? null : owner.slice(0, 200),
      restart: mayBeAlone ? 'service' : kind === 'session' ? 'session' : whole,
      why: why === undefined ? null : `Ce service n’est jamais redémarré seul : ${why}`,
    })
  }
  return [...found.values()]
}

/** Whether the look reached all processes of the target. Otherwise the list may lack some of their services. */
export function sawAll(lines: readonly string[]): boolean {
  return lines.includes('whole')
}
