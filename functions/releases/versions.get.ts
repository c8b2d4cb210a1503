import * as z from 'zod'
import { findModule, PreviousRelease, previousOf } from '../../db/modules.ts'
import { READS } from '../../runtime/function.ts'
import { ModuleId } from '../modules/module.ts'
import { isModuleName } from '../registry/forge-repositories.ts'
import { createForgeRequests } from '../registry/forge-requests.ts'
import { createForge, type ForgeAddress, ForgeError } from '../registry/forge.ts'
import { FORGE_ERRORS } from '../forge/codes.ts'
import { forgeOf } from '../registry/registry.ts'
import { defineFunction } from '../services.ts'
import { findTag, type ForgeRelease, listReleases, listTags } from './forge-versions.ts'
import { within } from './release.ts'

const Tip = z.object({ commit: z.string(), branch: z.string(), version: z.string().nullable() })
const Release = z.object({
  tag: z.string(),
  name: z.string(),
  commit: z.string(),
  published_at: z.string(),
  prerelease: z.boolean(),
  notes: z.string(),
})
const OnForge = z.object({
  tip: Tip.nullable(),
  releases: z.array(Release),
  tags: z.array(z.object({ tag: z.string(), commit: z.string() })),
})
type OnForge = z.infer<typeof OnForge>

/** The specification's time-out for the forge. */
const TIMEOUT_MS = 10_000
const NOTHING: OnForge = { tip: null, releases: [], tags: [] }

export default defineFunction({
  method: 'GET',
  path: '/api/registry/modules/:id/versions',
  summary: 'The versions of a module',
  description:
    'Returns the installed release of a module and the one before it, and what the forge offers: the newest commit, the newest 20 releases and the newest 50 tags, except those whose names have characters that cannot be seen. If the forge cannot be read, `error` says why.',
  auth: 'admin',
  rateLimit: READS,
  request: { params: z.object({ id: ModuleId }) },
  response: OnForge.extend({
    installed: z.object({ version: z.string(), commit: z.string().nullable(), tag: z.string().nullable() }).nullable(),
    previous: PreviousRelease.nullable(),
    error: z.string().nullable(),
  }),
  example: {
    response: {
      installed: { version: '1.1.0', commit: '9f1c2a5e6b7d8c9a0b1c2d3e4f5a6b7c8d9e0f10', tag: 'v1.1.0' },
      previous: null,
      tip: { commit: '4ffe5611f0a1d0c8a25c51a2a1f4f2f7a3f0a111', branch: 'main', version: '1.2.0' },
      releases: [
        {
          tag: 'v1.2.0',
          name: 'Version 1.2.0',
          commit: '4ffe5611f0a1d0c8a25c51a2a1f4f2f7a3f0a111',
          published_at: '2026-03-01T12:00:00.000Z',
          prerelease: false,
          notes: 'Salue aussi le soir.',
        },
      ],
      tags: [{ tag: 'v1.2.0', commit: '4ffe5611f0a1d0c8a25c51a2a1f4f2f7a3f0a111' }],
      error: null,
    },
  },
  errors: ['module_missing', 'forge_token_unreadable'],

  async handler({ params: { id } }, context) {
    if (!isModuleName(id)) throw context.fail('module_missing')
    const row = await findModule(context.db, id)
    const address = await forgeOf(context)
    const known = {
      installed: row ? { version: row.version, commit: row.commit, tag: row.tag } : null,
      previous: (row && previousOf(row)) ?? null,
    }
    if (!address) return { ...known, ...NOTHING, error: FORGE_ERRORS.forge_missing[1] }
    try {
      return { ...known, ...(await readVersions(address, id)), error: null }
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error
      return { ...known, ...NOTHING, error: `La forge ne peut pas être lue : ${error.message}` }
    }
  },
})

async function readVersions(address: ForgeAddress, id: string): Promise<OnForge> {
  const requests = createForgeRequests(address)
  const home = { org: address.org, repository: id }
  return within(TIMEOUT_MS, async (signal) => {
    const [found, tags, releases] = await Promise.all([
      createForge(address).find(id),
      listTags(requests, home, signal),
      listReleases(requests, home, signal),
    ])
    const known = new Map(tags.map(({ tag, commit }) => [tag, commit]))
    const withCommit = async ({ tag, name, publishedAt, isPrerelease, notes }: ForgeRelease) => {
      // An old release may have a tag that is not among the newest; one without a tag cannot be installed.
      const commit = known.get(tag) ?? (await findTag(requests, home, tag, signal))
      return commit === undefined
        ? []
        : [{ tag, name, commit, published_at: publishedAt, prerelease: isPrerelease, notes }]
    }
    const { commit, branch } = found
    return {
      tip: { commit, branch, version: 'descriptor' in found ? found.descriptor.version : null },
      releases: (await Promise.all(releases.map(withCommit))).flat(),
      tags,
    }
  })
}
