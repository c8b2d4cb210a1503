import * as z from 'zod'
import { ForgeError, type ForgeRequests } from './forge-requests.ts'

/** A file of a repository at a commit. */
export interface Place {
  org: string
  repository: string
  path: string
  commit: string
}

/** A commit's name: SHA-1, or SHA-256 in a repository of that format. */
export const Commit = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/, 'un numéro de commit')

/** Gitea's `Branch` and `ContentsResponse`, as its `/api/swagger` documents them. */
const GiteaBranch = z.object({ commit: z.object({ id: Commit }) })
const GiteaContents = z.object({
  type: z.literal('file'),
  encoding: z.literal('base64'),
  // Forges other than Gitea break the base64 text into lines.
  content: z.string().transform((text, { addIssue }) => {
    const bytes = Buffer.from(text, 'base64')
    // Node ignores characters that are not base64, so the decoded bytes are encoded again and compared.
    if (bytes.toString('base64') !== text.replace(/[\r\n]/g, '')) addIssue('du base64')
    return bytes
  }),
})

/** Most bytes of an answer around a file's text, or of a branch's last commit, whose message may be long. */
const MAX_FRAME = 256 * 1024

/** Returns the last commit of a branch; undefined when the branch does not exist. */
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

/**
 * Returns the bytes of a file; undefined when it does not exist. Rejects with a ForgeError, `unreadable` when the file
 * is too long.
 */
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
  // Gitea 1.23.0 answers 404 for an existing file (go-gitea/gitea#33164).
  const contents = await requests.json(GiteaContents, `${home}/contents/${file}`, {
    ...wanted,
    maxBytes: Math.ceil(maxBytes / 3) * 4 + MAX_FRAME,
  })
  if (contents && contents.value.content.length > maxBytes)
    throw new ForgeError('unreadable', `${wanted.what} est trop grand`)
  return contents?.value.content
}
