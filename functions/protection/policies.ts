import * as z from 'zod'
import type { Database } from '../../db/libsql/database.ts'
import { isListed, readProtections } from '../../db/protections.ts'
import { fail } from '../services.ts'
import { DEFAULT_PROTECTION, Protection } from './protection.ts'

/** The name of the policy of every container without its own. */
export const DEFAULT_TARGET = 'default'

/** Whose policy it is: that of one container, or the default of all. */
export const PolicyTarget = z
  .string()
  .regex(/^(default|lxc:[1-9]\d{2,8})$/, 'default, ou lxc:<id>')
  .meta({ examples: ['default', 'lxc:101'] })

/** Throws `target_invalid` for a container that is not in the last list. */
export async function expectPolicyTarget(db: Database, target: string): Promise<void> {
  if (target !== DEFAULT_TARGET && !(await isListed(db, target))) throw fail('target_invalid', { values: { target } })
}

/** The stored policies: the default, and the containers' own ones by target. */
export interface Policies {
  default: Protection
  own: ReadonlyMap<string, Protection>
}

/** Returns the policy of a container: its own, else the default. */
export async function policyOf(db: Database, target: string): Promise<Protection> {
  const policies = await readPolicies(db, [DEFAULT_TARGET, target])
  return policies.own.get(target) ?? policies.default
}

/** Reads the policies; with `targets`, those of these targets alone. A policy that cannot be read is left out. */
export async function readPolicies(db: Database, targets?: readonly string[]): Promise<Policies> {
  const stored = new Map<string, Protection>()
  for (const { target, protection } of await readProtections(db, targets)) {
    const { data } = Protection.safeParse(JSON.parse(protection))
    if (data) stored.set(target, data)
  }
  const fallback = stored.get(DEFAULT_TARGET) ?? DEFAULT_PROTECTION
  stored.delete(DEFAULT_TARGET)
  return { default: fallback, own: stored }
}
