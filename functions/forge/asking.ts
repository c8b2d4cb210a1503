import * as z from 'zod'
import { parseJson, readUpTo } from '../../platform/untrusted.ts'
import { checked } from '../../runtime/input.ts'
import { createForgeConnection, type ForgeHeaders, isHtml } from './connection.ts'
import type { ForgeAddress } from './settings.ts'

/** An answer of the forge, whatever its status. */
export interface ForgeAnswer {
  status: number
  headers: ForgeHeaders
  isPage: boolean
  /** Its text; empty for one that is too long. */
  text: string
}

/** Asks for a path below `/api`. */
export type Ask = (path: string, what: string) => Promise<ForgeAnswer>

/** Most bytes of an answer: ten repositories take 30 KiB. */
const MAX_ANSWER = 1024 * 1024
const Version = z.object({ version: z.string().regex(/^[\w.+~-]{1,60}$/) })

/** Names under which proxies often have a forge, for an address without a path. */
const USUAL_PATHS = ['/gitea', '/forgejo', '/git']
/** Most parts of a path that are left out one after another. */
const MOST_PARTS = 4

/** Asks for paths below `/api` of a forge, with any status as the answer. Rejects with ForgeErrors. */
export function asking(address: Omit<ForgeAddress, 'org'>, signal: AbortSignal): Ask {
  const connection = createForgeConnection(address)
  return (path, what) =>
    connection.get(path, { what, signal }, async (response) => ({
      status: response.status,
      headers: response.headers,
      isPage: isHtml(response),
      text: (await readUpTo(MAX_ANSWER, response.body))?.toString() ?? '',
    }))
}

/** Returns the version in an answer; undefined when it is not that of a forge. */
export function versionOf({ status, text }: ForgeAnswer): string | undefined {
  const parsed = checked(Version, parseJson(text))
  return status === 200 && parsed.success ? parsed.data.version : undefined
}

/**
 * Looks for a forge at other paths of the same origin, and returns its address: above the given one, which may be that of
 * an organisation or a repository, or below usual names. Sends no token.
 */
export async function rightPath({ url, fingerprint }: ForgeAddress, signal: AbortSignal): Promise<string | undefined> {
  const { origin, pathname } = new URL(url)
  const parts = pathname.split('/').filter((part) => part !== '')
  const above = parts
    .map((_, n) => parts.slice(0, parts.length - n - 1))
    .map((left) => left.map((part) => `/${part}`).join(''))
  for (const path of parts.length === 0 ? USUAL_PATHS : above.slice(0, MOST_PARTS)) {
    const ask = asking({ url: origin + path, token: undefined, fingerprint }, signal)
    if (versionOf(await ask('/v1/version', 'sa version')) !== undefined) return origin + path
  }
  return undefined
}
