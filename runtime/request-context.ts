import type { Context as HonoContext } from 'hono'
import type { HeaderList } from './answer.ts'
import { type Actor, auditStatement, writeAudit } from './audit.ts'
import type { AuditNote, Caller, RuntimeServices, User } from './context.ts'
import { failureIn, type FailureOptions } from './errors.ts'

/**
 * Returns the class of the context that handlers receive. Services are inherited and `signal` is a getter: copying them
 * into an object literal costs more than the rest of a small request.
 */
export function requestContext(services: RuntimeServices) {
  class RequestContext {
    readonly user: User | undefined
    readonly caller: Caller
    readonly header: (name: string, value: string) => void
    /** Whether the handler has written the entry of its refusal itself, such as `proof_refused`. */
    hasToldRefusal = false
    readonly #actor: Actor
    readonly #c: HonoContext

    constructor(c: HonoContext, user: User | undefined, caller: Caller, headers: HeaderList) {
      this.#c = c
      this.user = user
      this.caller = caller
      this.#actor = { user, address: caller.address }
      this.header = (name, value) => void headers.push([name, value])
    }

    // Getters that return functions, because handlers destructure the context.
    get audit() {
      return (action: string, note?: AuditNote) => {
        this.hasToldRefusal ||= note?.isRefusal === true
        return writeAudit(services, this.#actor, action, note)
      }
    }

    get auditEntry() {
      return (action: string, note?: AuditNote) => auditStatement(services, this.#actor, action, note)
    }

    get signal(): AbortSignal {
      return this.#c.req.raw.signal
    }
  }
  Object.setPrototypeOf(RequestContext.prototype, {
    ...services,
    fail: (code: string, options?: FailureOptions) => failureIn(services.errors, code, options),
  })
  return RequestContext
}
