import type { Response } from 'undici'
import * as z from 'zod'
import { parseJson, readUpTo } from '../../platform/untrusted.ts'
import { checked } from '../../runtime/input.ts'
import { createForgeConnection, drop, type ForgeHeaders, isHtml } from '../forge/connection.ts'
import { ForgeError, scopesNamed } from '../forge/error.ts'
import type { Pauses } from '../forge/pauses.ts'
import type { ForgeAddress } from '../forge/settings.ts'

export { type ForgeAddress, ForgeError, type ForgeHeaders }

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
  bytes(path: string, wanted: Wanted): Promise<{ bytes: Buffer; headers: ForgeHeaders } | undefined>
  /** Like `bytes`, for JSON, parsed by the schema. */
  json<schema extends z.ZodType>(
    schema: schema,
    path: string,
    wanted: Wanted,
  ): Promise<{ value: z.output<schema>; headers: ForgeHeaders } | undefined>
}

/** Most bytes of a refusal that are read: one sentence. */
const MAX_REFUSAL = 16 * 1024

/**
 * A list of which the first `most` entries are read: checking many thousands would take seconds, during which the service
 * answers nobody.
 */
export const firstOf = <schema extends z.ZodType>(most: number, schema: schema) =>
  z
    .array(z.unknown())
    .transform((entries) => entries.slice(0, most))
    .pipe(z.array(schema))

/** Sends GET requests below `/api/v1` (see `createForgeConnection`). */
export function createForgeRequests(address: ForgeAddress, pauses?: Pauses): ForgeRequests {
  const connection = createForgeConnection(address, pauses)

  const bytes: ForgeRequests['bytes'] = (path, { what, maxBytes, signal, unusable }) =>
    connection.get(`/v1${path}`, { what, signal }, async (response) => {
      if (response.status === 404) return drop(response)
      if (response.status !== 200) throw new ForgeError('unreachable', await refusal(response, what))
      const isPage = isHtml(response)
      const read = isPage ? await drop(response) : await readUpTo(maxBytes, response.body)
      if (read) return { bytes: read, headers: response.headers }
      const came = isPage ? `une page HTML a été reçue au lieu de ${what}` : `${what} dépasse ${sizeText(maxBytes)}`
      throw new ForgeError(unusable, came, { isTooLarge: !isPage })
    })

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

async function refusal(response: Response, what: string): Promise<string> {
  const { status } = response
  if (status !== 401 && status !== 403) {
    await drop(response)
    return `réponse HTTP ${status} pour ${what}`
  }
  const scopes = scopesNamed((await readUpTo(MAX_REFUSAL, response.body))?.toString() ?? '')
  if (status === 403 && scopes.length > 0)
    return `le jeton n’a pas la permission ${scopes.join(', ')} (${what}, HTTP 403)`
  return `accès refusé (${what}, HTTP ${status}) : vérifiez le jeton de la forge (forge_token, ou PANEL_FORGE_TOKEN)`
}

/** A size in French, in whole units. */
export function sizeText(bytes: number): string {
  const kib = Math.floor(bytes / 1024)
  return kib < 1024 ? `${kib} Kio` : `${Math.floor(kib / 1024)} Mio`
}
