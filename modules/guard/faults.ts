import type { ModuleRow } from '../../db/modules.ts'
import type { Note } from './notes.ts'

/** Returns the French sentence that says why a module was taken out. */
export function faultOf({ what, place, message }: Note): string {
  const where = place === '' ? '' : ` (${place})`
  switch (what) {
    case 'loop':
      return `Son code ne s’est pas terminé et a bloqué le service${where}.`
    case 'blocked':
      return 'Un appel de son code au système ne s’est pas terminé et a bloqué le service.'
    case 'memory':
      return `Son code a pris trop de mémoire${where}.`
    case 'exit':
      return `Son code a arrêté le service${where}.`
    case 'error':
      return `Une erreur que son code n’a pas traitée a arrêté le service${where} : ${message}`
    case 'hang':
      return SUSPECTED
  }
}

/** The fault of a module that is left out because no other one has explained the ends of the service. */
export const SUSPECTED =
  'Le service s’est arrêté ou bloqué sans que la cause soit connue : ce module, modifié en dernier, est mis à l’écart.'

type Candidate = Pick<ModuleRow, 'id' | 'updated_at'>

/**
 * Returns the module to leave out next, when nobody knows which one ends the service: the one that was changed last, then
 * the one before. Undefined when each was left out once.
 */
export function nextSuspect(modules: readonly Candidate[], tried: readonly string[]): string | undefined {
  const left = modules.filter(({ id }) => !tried.includes(id))
  const newest = left.reduce<Candidate | undefined>(
    (best, each) => (best === undefined || each.updated_at > best.updated_at ? each : best),
    undefined,
  )
  return newest?.id
}
