import { ownPlace } from '../platform/program.ts'
import type { Place } from './place.ts'

/**
 * Imitates `STANDING`: each place has a boot id and a pid namespace of its own, except for the one where the panel of the
 * demo is said to run, which has those of this process.
 */
export async function standingLines({ id, hasPanel = false }: Place): Promise<string[]> {
  const own = hasPanel ? await ownPlace() : undefined
  const number = id === 'host' ? 1 : Number(id)
  const boot = own?.boot ?? `5b1d7c2e-0000-4000-8000-${String(number).padStart(12, '0')}`
  return [`place ${boot} pid:[${own?.namespace ?? number}]`, `address 10.0.0.${number % 250}/24 eth0`]
}
