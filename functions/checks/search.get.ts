import * as z from 'zod'
import { readCheckedPackages, targetsNaming } from '../../db/checks.ts'
import { mayRead } from '../../runtime/access.ts'
import { READS } from '../../runtime/function.ts'
import { Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { PackageUpdate } from '../managers/package-update.ts'
import { inSlices } from '../managers/sections.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/updates/search',
  summary: 'The targets with a package',
  description:
    'Returns the targets whose last check found a package with `q` in its name, in the name of its source package or in the id of a vulnerability that it fixes, whatever the case; the host first. From the database alone, also while the host is unreachable.',
  auth: 'user',
  targets: 'own',
  rateLimit: READS,
  request: { query: z.object({ q: z.string().min(2).max(100) }) },
  response: z.object({ targets: z.array(Target) }),
  example: { query: { q: 'openssl' }, response: { targets: ['host', 'lxc:101'] } },

  async handler({ query: { q } }, { db, user, jobs }) {
    await jobs.upToDate()
    const wanted = q.toLowerCase()
    const targets: string[] = []
    // Their lists have the text somewhere, which may be the name of a field. One list at a time is held in memory.
    for (const target of await targetsNaming(db, q))
      if (mayRead(user, target) && (await names((await readCheckedPackages(db, target)) ?? '[]', wanted)))
        targets.push(target)
    return { targets }
  },
})

const Named = z.array(PackageUpdate.pick({ name: true, source: true, cves: true }))

/** Whether a package of a stored list has the text, in lower case, in one of its names. */
async function names(stored: string, wanted: string): Promise<boolean> {
  const has = (text: string | null) => text?.toLowerCase().includes(wanted) === true
  let found = false
  await inSlices(piecesOf(stored), (piece) => {
    found ||= Named.parse(JSON.parse(piece)).some(
      ({ name, source, cves }) => has(name) || has(source) || cves.some(({ id }) => has(id)),
    )
  })
  return found
}

/** Characters of a list that are parsed at once. */
const PIECE = 2_000

/** Cuts a stored list of packages, whose items begin with the same field, into shorter lists. */
function* piecesOf(stored: string): Generator<string> {
  // Within a text, a quotation mark has a backslash before it, so this stands between two packages alone.
  const start = /^\[(\{"\w{1,50}":)/.exec(stored)?.[1]
  if (start === undefined) return
  let from = 1
  while (from < stored.length) {
    const end = stored.indexOf(`},${start}`, from + PIECE)
    yield end < 0 ? `[${stored.slice(from)}` : `[${stored.slice(from, end + 1)}]`
    from = end < 0 ? stored.length : end + 2
  }
}
