import type { oas31 } from 'zod-openapi'
import type { AnyFunction } from './function.ts'

/** The cookies that a function reads, which are credentials. */
export function cookiesOf({ request }: AnyFunction): string[] {
  return Object.keys(request?.cookies?.shape ?? {})
}

/** What a caller may bring, each an alternative: an empty one means nothing at all. */
export function securityOf(fn: AnyFunction): oas31.SecurityRequirementObject[] {
  const cookies = Object.fromEntries(cookiesOf(fn).map((name) => [name, []]))
  const token = { accessToken: [] }
  const asked = fn.auth === 'none' ? [] : [token]
  const withCookies = cookiesOf(fn).length > 0 ? [fn.auth === 'none' ? cookies : { ...token, ...cookies }] : []
  return [...(fn.auth === 'optional' ? [{}] : []), ...asked, ...withCookies]
}
