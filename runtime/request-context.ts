import type { Context as HonoContext } from 'hono'
import type { HeaderList } from './answer.ts'
import { type Actor, type AuditAction, auditStatement, writeAudit } from './audit.ts'
import type { AuditNote, Caller, Services, User } from './context.ts'
import { type ErrorCode, Failure, type FailureOptions } from './errors.ts'

/**
 * What a handler is given. The services are inherited, and the signal is made only for who asks for it: copying them
 * into a literal with a getter costs more than all else of a small request.
 */
export function requestContext(services: Services) {
  class RequestContext {
    readonly user: User | undefined
    readonly caller: Caller
    readonly header: (name: string, value: string) => void
    readonly #actor: Actor
    readonly #c: HonoContext

    constructor(c: HonoContext, user: User | undefined, caller: Caller, headers: HeaderList) {
      this.#c = c
      this.user = user
      this.caller = caller
      this.#actor = { user, address: caller.address }
      this.header = (name, value) => void headers.push([name, value])
    }

    get audit() {
      return (action: AuditAction, note?: AuditNote) => writeAudit(services, this.#actor, action, note)
    }

    get auditEntry() {
      return (action: AuditAction, note?: AuditNote) => auditStatement(services, this.#actor, action, note)
    }

    get signal(): AbortSignal {
      return this.#c.req.raw.signal
    }
  }
  Object.setPrototypeOf(RequestContext.prototype, { ...services, fail: newFailure })
  return RequestContext
}

const newFailure = (code: ErrorCode, options?: FailureOptions) => new Failure(code, options)
