import * as z from 'zod'

/** The headers that the service reads. */
const HEADERS = ['link', 'x-total-count', 'x-gitea-object-type', 'etag', 'location', 'retry-after']

/** A commit's number, which depends on its author and time. */
const COMMIT = /^[0-9a-f]{40}$/
const MOMENT = z.iso.datetime({ offset: true }).transform(() => 'a time')

/** The fields of a repository, of a branch and of a file's contents that the service reads. */
const Repository = z.object({
  name: z.string(),
  owner: z.object({ login: z.string() }),
  description: z.string(),
  archived: z.boolean(),
  empty: z.boolean(),
  private: z.boolean(),
  has_code: z.boolean(),
  fork: z.boolean(),
  mirror: z.boolean(),
  parent: z
    .object({ html_url: z.string() })
    .nullish()
    .transform((parent) => parent ?? null),
  original_url: z.string(),
  html_url: z.string(),
  default_branch: z.string(),
  branch_count: z.number(),
  updated_at: MOMENT,
  mirror_updated: MOMENT,
})
const Branch = z.object({
  name: z.string(),
  commit: z.object({
    id: z
      .string()
      .regex(COMMIT)
      .transform(() => 'a commit'),
    message: z.string(),
  }),
})
const Contents = z.object({
  type: z.string(),
  encoding: z.string().nullable(),
  content: z.string().nullable(),
  size: z.number(),
})
/** The service reads the message of 401 and 403 alone. */
const Version = z.object({ version: z.string().transform(() => 'a version') })
const Refusal = z.object({ message: z.string() })

/**
 * Returns what the service reads of an answer, in a form in which a forge and its stand-in can be compared: without
 * the port and without commits' numbers.
 */
export async function inCommon(response: Response, origin: string) {
  const same = (text: string) => text.replaceAll(origin, 'http://forge')
  const bytes = Buffer.from(await response.arrayBuffer())
  const headers = HEADERS.flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [[name, same(value)]]
  })
  const [type] = (response.headers.get('content-type') ?? '').split(';')
  const json: unknown = type === 'application/json' ? JSON.parse(same(bytes.toString())) : undefined
  const body = json === undefined ? bytes.toString() : read(json)
  const { status } = response
  // The service reads neither the text of a redirect nor that of a 404.
  return status === 404 || status === 301 ? { status, headers } : { status, headers, type, body }
}

function read(json: unknown): unknown {
  return z.union([z.array(Repository), Repository, Branch, Contents, Version, Refusal]).parse(json)
}
