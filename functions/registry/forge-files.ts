import * as z from 'zod'
import { ForgeError, type ForgeRequests } from './forge-requests.ts'

/** A file of a repository, as it was at a commit. */
export interface Place {
  org: string
  repository: string
  path: string
  commit: string
}

/** A commit's name: SHA-1, or SHA-256 where the repository has chosen so. */
export const Commit = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/, 'un numéro de commit')

/** Gitea's `Branch` and `ContentsResponse`, as its `/api/swagger` documents them. */
const GiteaBranch = z.object({ commit: z.object({ id: Commit }) })
const GiteaContents = z.object({
  type: z.literal('file'),
  encoding: z.literal('base64'),
  // Other forges than Gitea break it into lines.
  content: z.string().transform((text, { addIssue }) => {
    const bytes = Buffer.from(text, 'base64')
    // Node passes over what is not base64.
    if (bytes.toString('base64') !== text.replace(/[\r\n]/g, '')) addIssue('du base64')
    return bytes
  }),
})

/** What surrounds the text of a file or of a branch's last commit, whose message may be long. */
const MAX_FRAME = 256 * 1024

/** The last commit of a branch, undefined when there is no such branch. */
export async function findTip(
  requests: ForgeRequests,
  { org, repository, branch }: { org: string; repository: string; branch: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const path = `/repos/${encodeURIComponent(org)}/${encodeURIComponent(repository)}/branches/${branch}`
  const what = `la branche ${branch} de « ${repository} »`
  const answer = await requests.json(GiteaBranch, path, {
    what,
    maxBytes: MAX_FRAME,
    signal,
    unusable: 'unreachable',
  })
  return answer?.value.commit.id
}

/** The bytes of a file, undefined when there is none. Rejects with a ForgeError, `unreadable` when it is too long. */
export async function readFile(
  requests: ForgeRequests,
  { org, repository, path, commit }: Place,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<Buffer | undefined> {
  const names = path.split('/')
  if (names.some((name) => name === '' || name === '.' || name === '..')) return undefined
  const home = `/repos/${encodeURIComponent(org)}/${encodeURIComponent(repository)}`
  const file = `${names.map(encodeURIComponent).join('/')}?ref=${encodeURIComponent(commit)}`
  const wanted = { what: `${path} de « ${repository} »`, maxBytes, signal, unusable: 'unreadable' } as const
  const raw = await requests.bytes(`${home}/raw/${file}`, wanted)
  if (raw) return raw.bytes
  // Gitea 1.23.0 answers 404 to a file that is there (go-gitea/gitea#33164).
  const contents = await requests.json(GiteaContents, `${home}/contents/${file}`, {
    ...wanted,
    maxBytes: Math.ceil(maxBytes / 3) * 4 + MAX_FRAME,
  })
  if (contents && contents.value.content.length > maxBytes)
    throw new ForgeError('unreadable', `${wanted.what} est trop grand`)
  return contents?.value.content
}
