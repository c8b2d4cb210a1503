import * as z from 'zod'
import { writtenTable } from '../../packaging/access-table.ts'
import type { Role } from '../../runtime/context.ts'

const yes = z.enum(['yes', '']).transform((text) => text === 'yes')
const Row = z.object({
  operation: z.string().regex(/^(GET|POST|PUT|PATCH|DELETE) \//),
  role: z.enum(['anybody', 'viewer', 'operator', 'admin']),
  targets: z.enum(['none', 'named', 'filtered', 'all']),
  needsProof: yes,
  takesTokens: z.enum(['no', '']).transform((text) => text === ''),
  whileEnrolling: yes,
})
export type Row = z.infer<typeof Row>

/** Reads the table of docs/access.md: what people are told that each operation asks. */
export function writtenRows(): Row[] {
  const [, , ...lines] = writtenTable().trim().split('\n')
  return lines.map((line) => {
    const [, operation, role, targets, needsProof, takesTokens, whileEnrolling] = line
      .split('|')
      .map((cell) => cell.trim())
    return Row.parse({
      operation: operation?.replaceAll('`', ''),
      role,
      targets,
      needsProof,
      takesTokens,
      whileEnrolling,
    })
  })
}

/** A caller as the page describes callers. */
export interface Caller {
  name: string
  role: Role
  credential: 'session' | 'token'
  /** Whether the groups of its account give it one target only. */
  isOfOneTarget?: boolean
  /** Whether its token is bound to one target. */
  isBound?: boolean
  isProven?: boolean
  isEnrolling?: boolean
}

/** The codes with which access is refused. */
export const REFUSALS: readonly string[] = [
  'unauthenticated',
  'forbidden',
  'enrolment_required',
  'target_forbidden',
  'step_up_required',
]

const RANKS = ['anybody', 'viewer', 'operator', 'admin']

/**
 * The refusal that docs/access.md promises, in the order of its section “Refusals”; undefined where it promises none.
 * `isOwn`: whether the request names the one target that a bounded caller has.
 */
export function promised(row: Row, caller: Caller | undefined, isOwn: boolean): string | undefined {
  const isFree = row.role === 'anybody'
  if (!caller) return isFree ? undefined : 'unauthenticated'
  // An endpoint for anybody takes a token that it does not accept for none.
  if (isFree && caller.credential === 'token' && !row.takesTokens) return undefined
  if (RANKS.indexOf(caller.role) < RANKS.indexOf(row.role)) return 'forbidden'
  if (caller.isEnrolling && !row.whileEnrolling) return 'enrolment_required'
  if (caller.credential === 'token' && !row.takesTokens) return 'forbidden'
  const changes = row.role === 'operator' || row.role === 'admin'
  const isBounded = caller.isBound || (changes && caller.isOfOneTarget)
  if (isBounded && row.targets === 'all') return 'target_forbidden'
  if (row.needsProof && !caller.isProven) return 'step_up_required'
  if (isBounded && row.targets === 'named' && !isOwn) return 'target_forbidden'
  return undefined
}
