import type * as z from 'zod'
import { parseJson, readUpTo } from '../../platform/untrusted.ts'
import { checked } from '../../runtime/input.ts'

/** The address of a Gitea or Forgejo that modules are installed from, including its path. */
export interface ForgeAddress {
  url: string
  org: string
  token: string | undefined
}

/** Why the forge could not be read. The message is a French clause without a capital and without a full stop. */
export class ForgeError extends Error {
  override readonly name = 'ForgeError'
  /**
   * `unreachable`: no usable answer from a forge; `missing`: no such resource; `unreadable`: its content is unusable.
   */
  readonly reason: 'unreachable' | 'missing' | 'unreadable'
  /** Whether the content is unusable because of its size. */
  readonly isTooLarge: boolean

  constructor(reason: ForgeError['reason'], message: string, options: ErrorOptions & { isTooLarge?: boolean } = {}) {
    super(message, options)
    this.reason = reason
    this.isTooLarge = options.isTooLarge ?? false
  }
}

/** The bounds of a request. */
export interface Wanted {
  /** The name of the resource in errors, in French. */
  what: string
  /** Most bytes of the answer that are read. */
  maxBytes: number
  signal: AbortSignal
  /** The reason of the error when an answer of 200 is unusable. */
  unusable: 'unreachable' | 'unreadable'
}

export interface ForgeRequests {
  /** Returns the bytes at a path of the API; undefined for a 404. Rejects with a ForgeError only. */
  bytes(path: string, wanted: Wanted): Promise<{ bytes: Buffer; headers: Headers } | undefined>
  /** Like `bytes`, for JSON, parsed by the schema. */
  json<schema extends z.ZodType>(
    schema: schema,
    path: string,
    wanted: Wanted,
  ): Promise<{ value: z.output<schema>; headers: Headers } | undefined>
}

/** A renamed or moved forge redirects once. More redirects are a loop. */
const MAX_HOPS = 3
const REDIRECTS = [301, 302, 303, 307, 308]

/**
 * Sends GET requests below `/api/v1`. Requests and the token go to the address's origin only: a redirect must not send
 * the token to another site.
 */
export function createForgeRequests({ url, token }: ForgeAddress): ForgeRequests {
  const { origin, pathname } = new URL(url)
  const root = `${origin}${pathname.replace(/\/+$/, '')}/api/v1`
  const headers = token ? { authorization: `token ${token}` } : {}

  const follow = async (path: string, signal: AbortSignal): Promise<Response> => {
    let at = new URL(root + path)
    for (let hop = 0; hop <= MAX_HOPS; hop += 1) {
      // Redirects are followed here, because fetch alone would send a request to any address that it receives.
      const response = await fetch(at, { headers, redirect: 'manual', signal })
      const location = response.headers.get('location')
      if (location === null || !REDIRECTS.includes(response.status)) return response
      await drop(response)
      const next = URL.canParse(location, at) ? new URL(location, at) : undefined
      if (next?.origin !== origin) {
        const where = next?.origin.slice(0, 200) ?? 'une adresse illisible'
        throw new ForgeError(
          'unreachable',
          `${origin} redirige vers ${where}, qui n’est pas l’adresse de PANEL_FORGE_URL`,
        )
      }
      at = next
    }
    throw new ForgeError('unreachable', `${origin} redirige sans fin d’une adresse à une autre`)
  }

  const ask = async (path: string, { what, maxBytes, signal, unusable }: Wanted) => {
    const response = await follow(path, signal)
    if (response.status !== 200) {
      await drop(response)
      if (response.status === 404) return undefined
      throw new ForgeError('unreachable', refusal(response.status, what))
    }
    const isPage = /^\s*text\/html\b/i.test(response.headers.get('content-type') ?? '')
    const bytes = isPage ? await drop(response) : await readUpTo(maxBytes, response.body)
    if (bytes) return { bytes, headers: response.headers }
    const came = isPage ? `une page HTML a été reçue au lieu de ${what}` : `${what} dépasse ${sizeText(maxBytes)}`
    throw new ForgeError(unusable, came, { isTooLarge: !isPage })
  }

  const bytes: ForgeRequests['bytes'] = async (path, wanted) => {
    // Each request has its own controller: fetch leaves listeners on a signal and warns about many on a shared one.
    const ending = new AbortController()
    const end = () => ending.abort()
    wanted.signal.addEventListener('abort', end)
    try {
      wanted.signal.throwIfAborted()
      return await ask(path, { ...wanted, signal: ending.signal })
    } catch (cause) {
      if (cause instanceof ForgeError) throw cause
      const why = wanted.signal.aborted ? 'à temps' : `(${codeOf(cause)})`
      throw new ForgeError('unreachable', `aucune réponse de ${origin} ${why} pour ${wanted.what}`, { cause })
    } finally {
      wanted.signal.removeEventListener('abort', end)
    }
  }

  return {
    bytes,
    async json(schema, path, wanted) {
      const answer = await bytes(path, wanted)
      if (!answer) return undefined
      const parsed = checked(schema, parseJson(answer.bytes.toString()))
      if (parsed.success) return { value: parsed.data, headers: answer.headers }
      const [issue] = parsed.error.issues
      const where = issue?.path.length ? ` (${issue.path.join('.')} : ${issue.message})` : ''
      throw new ForgeError(wanted.unusable, `${wanted.what} : la réponse n’est pas celle d’une forge${where}`)
    },
  }
}

function refusal(status: number, what: string): string {
  if (status === 401 || status === 403) return `accès refusé (${what}, HTTP ${status}) : vérifiez PANEL_FORGE_TOKEN`
  return `réponse HTTP ${status} pour ${what}`
}

/** Ends an unread answer; its connection would stay open otherwise. */
async function drop({ body }: Response): Promise<undefined> {
  // An answer that has broken off meanwhile has ended too.
  await body?.cancel().catch(() => {})
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  // Returns the code only: a message of fetch may quote headers, the token among them.
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'la connexion a échoué'
}

function sizeText(bytes: number): string {
  const kib = Math.floor(bytes / 1024)
  return kib < 1024 ? `${kib} Kio` : `${Math.floor(kib / 1024)} Mio`
}
