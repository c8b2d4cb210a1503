/*
 * The headers that a module's endpoints may set. Each of the others could loosen the policy that every answer of the
 * service has, set a cookie of its own, or instruct a proxy in front of it.
 */

import { ANSWER_HEADERS } from '../runtime/answer.ts'

const ALLOWED = new Set([
  'cache-control',
  'content-disposition',
  'content-language',
  'etag',
  'expires',
  'last-modified',
  'retry-after',
  'vary',
])
/** Headers that begin with `x-` and mean something to a browser, a proxy or the service. */
const RESERVED =
  /^x-(?:accel-.*|content-.*|dns-.*|forwarded.*|frame-options|lighttpd-.*|permitted-.*|real-ip|request-id|sendfile|webkit-.*|xss-.*)$/

type SetHeader = (name: string, value: string) => void

/** Wraps the function that sets a header of an answer. It throws for a header that modules may not set. */
export function guardedHeader(id: string, set: SetHeader): SetHeader {
  return (name, value) => {
    const lower = String(name).toLowerCase()
    if (!ALLOWED.has(lower) && (!/^x-[\w-]+$/.test(lower) || RESERVED.test(lower)))
      throw new Error(`the module ${id} may not set the header ${JSON.stringify(lower.slice(0, 100))}`)
    set(lower, value)
  }
}

/**
 * The policy of an answer that is not JSON. A browser that opens it directly treats it as a page without an origin, so
 * a module that answers with HTML gets no part of the panel's.
 */
export const TEXT_POLICY = `${ANSWER_HEADERS['content-security-policy']}; sandbox`
