import type { CheckRow } from '../../db/checks.ts'
import { type Finding, findingOf } from './finding.ts'

/** Returns the findings that follow from the list of containers. */
export function placeFindings({
  vmid,
  status,
  lock,
  template,
}: Pick<CheckRow, 'vmid' | 'status' | 'lock' | 'template'>): Finding[] {
  if (vmid === null) return []
  const locked = `L’hyperviseur a verrouillé le conteneur (${lock}). Revérifiez quand il aura fini.`
  const found = lock === null ? [] : [findingOf('container_locked', { message: locked })]
  if (status === 'running') return found
  return [findingOf(template ? 'container_template' : 'container_stopped'), ...found]
}

/** An end of life within this time is told before. */
const END_NEAR_MS = 90 * 24 * 60 * 60_000

/** Returns the finding of a distribution that gets no more security fixes, or soon will not. */
export function endOfLifeFindings(os: { name: string; end_of_life: string | null } | null, now: Date): Finding[] {
  if (!os?.end_of_life) return []
  const left = Date.parse(os.end_of_life) - now.getTime()
  const name = os.name.slice(0, 100)
  if (left < 0)
    return [
      findingOf('end_of_life', {
        message: `${name} ne reçoit plus de corrections de sécurité depuis le ${os.end_of_life}.`,
      }),
    ]
  if (left > END_NEAR_MS) return []
  const message = `${name} ne recevra plus de corrections de sécurité après le ${os.end_of_life}.`
  return [findingOf('end_of_life', { severity: 'info', message })]
}
