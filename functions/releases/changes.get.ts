import * as z from 'zod'
import { READS } from '../../runtime/function.ts'
import { ModuleId } from '../modules/module.ts'
import { Commit } from '../registry/forge-files.ts'
import { isModuleName } from '../registry/forge-repositories.ts'
import { createForgeRequests } from '../registry/forge-requests.ts'
import { type ForgeAddress, ForgeError } from '../registry/forge.ts'
import { forgeOf } from '../registry/registry.ts'
import { defineFunction } from '../services.ts'
import { type ChangedFile, netFiles, undone } from './changed-files.ts'
import { areBetween, compare, hasCommit, isNamed, isUnreadable, MAX_FILES } from './forge-versions.ts'
import { within } from './release.ts'

const ChangeCommit = z.object({ commit: z.string(), title: z.string(), author: z.string(), date: z.string() })
const ChangeFile = z.object({ name: z.string(), status: z.enum(['added', 'removed', 'modified']) })
const Changes = z.object({
  commits: z.array(ChangeCommit),
  commits_total: z.number(),
  dropped_total: z.number(),
  files: z.array(ChangeFile),
  files_total: z.number(),
  unknown: z.enum(['from_missing', 'to_missing', 'too_long', 'forge_failed']).nullable(),
  error: z.string().nullable(),
})
type Changes = z.infer<typeof Changes>

const NAMED =
  'Une branche ou une étiquette (tag) du dépôt porte le nom d’un de ces commits : la forge la comparerait à sa place.'
const OTHERS = 'La forge a comparé d’autres commits que ceux-ci.'
/** The specification's time-out for the forge. */
const TIMEOUT_MS = 10_000

export default defineFunction({
  method: 'GET',
  path: '/api/registry/modules/:id/changes',
  summary: 'The changes between two commits',
  description:
    'Returns what the commit `to` of a module has and the commit `from` does not have: at most 100 commits, the newest first, and at most 300 files. `dropped_total` counts the commits of `from` that `to` does not have, as after a forced push or on the way back to an older release. If the forge cannot tell, `unknown` and `error` say why.',
  auth: 'admin',
  rateLimit: READS,
  request: { params: z.object({ id: ModuleId }), query: z.object({ from: Commit, to: Commit }) },
  response: Changes,
  example: {
    query: {
      from: '9f1c2a5e6b7d8c9a0b1c2d3e4f5a6b7c8d9e0f10',
      to: '4ffe5611f0a1d0c8a25c51a2a1f4f2f7a3f0a111',
    },
    response: {
      commits: [
        {
          commit: '4ffe5611f0a1d0c8a25c51a2a1f4f2f7a3f0a111',
          title: 'Saluer aussi le soir',
          author: 'Alice',
          date: '2026-03-01T12:00:00.000Z',
        },
      ],
      commits_total: 1,
      dropped_total: 0,
      files: [{ name: 'backend.mjs', status: 'modified' }],
      files_total: 1,
      unknown: null,
      error: null,
    },
  },
  errors: ['module_missing', 'forge_missing', 'forge_token_unreadable'],

  async handler({ params: { id }, query: { from, to } }, context) {
    if (!isModuleName(id)) throw context.fail('module_missing')
    const address = await forgeOf(context)
    if (!address) throw context.fail('forge_missing')
    try {
      return await within(TIMEOUT_MS, (signal) => readChanges(address, id, { from, to }, signal))
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error
      if (isUnreadable(error)) return nothing('too_long', 'Il y a trop de changements pour les lire tous.')
      return nothing('forge_failed', `La forge ne peut pas être lue : ${error.message}`)
    }
  },
})

async function readChanges(
  address: ForgeAddress,
  id: string,
  { from, to }: { from: string; to: string },
  signal: AbortSignal,
): Promise<Changes> {
  const requests = createForgeRequests(address)
  const home = { org: address.org, repository: id }
  const ends = [from, to]
  const [hasFrom, hasTo] = await Promise.all(ends.map((commit) => hasCommit(requests, home, commit, signal)))
  if (!hasFrom) return nothing('from_missing', 'La forge n’a plus le commit installé : la branche a été réécrite.')
  if (!hasTo) return nothing('to_missing', 'La forge n’a pas ce commit.')
  const [added, dropped] = await Promise.all([
    compare(requests, home, { base: from, head: to }, signal),
    compare(requests, home, { base: to, head: from }, signal),
  ])
  if (!added || !dropped) return nothing('forge_failed', 'La forge ne compare pas ces deux commits.')
  const named = await Promise.all(ends.map((commit) => isNamed(requests, home, commit, signal)))
  if (named.includes(true)) return nothing('forge_failed', NAMED)
  if (!areBetween(from, to, added, dropped)) return nothing('forge_failed', OTHERS)
  const net: ChangedFile[] = netFiles([...undone(dropped.files), ...added.files])
  return {
    commits: added.commits,
    commits_total: added.total,
    dropped_total: dropped.total,
    files: net.slice(0, MAX_FILES).map(({ filename, status }) => ({ name: filename, status })),
    files_total: net.length,
    unknown: null,
    error: null,
  }
}

function nothing(unknown: NonNullable<Changes['unknown']>, error: string): Changes {
  return { commits: [], commits_total: 0, dropped_total: 0, files: [], files_total: 0, unknown, error }
}
