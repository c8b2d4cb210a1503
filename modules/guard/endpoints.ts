import type { AnyFunction } from '../../runtime/function.ts'
import type * as z from 'zod'
import type { ModuleGuard } from './guard.ts'

/**
 * Returns an endpoint whose handler, targets and schemas run as work of its module. A pattern of a schema may take for
 * ever, with nothing but zod's own code on the stack.
 */
export function guarded(guard: ModuleGuard, id: string, fn: AnyFunction): AnyFunction {
  const { request, response } = fn
  const schema = <kind extends z.ZodType>(inner: kind) => guardedSchema(guard, id, inner)
  return {
    ...fn,
    ...(request && {
      request: {
        ...request,
        ...(request.params && { params: schema(request.params) }),
        ...(request.query && { query: schema(request.query) }),
        ...(request.cookies && { cookies: schema(request.cookies) }),
        ...(request.body && { body: schema(request.body) }),
      },
    }),
    response: schema(response),
    ...(typeof fn.targets === 'function' && { targets: guardedTargets(guard, id, fn.targets) }),
    handler: (input: never, context: never) => guard.within(id, () => fn.handler(input, context)),
  }
}

/** Has all properties of the schema, and is an instance of the same classes. */
function guardedSchema<schema extends z.ZodType>(guard: ModuleGuard, id: string, schema: schema): schema {
  return Object.create(schema, {
    parse: { value: (value: unknown) => guard.within(id, () => schema.parse(value)) },
    safeParse: { value: (value: unknown) => guard.within(id, () => schema.safeParse(value)) },
  })
}

type Targets = Extract<AnyFunction['targets'], (...given: never) => unknown>

const guardedTargets =
  (guard: ModuleGuard, id: string, targets: Targets): Targets =>
  (input, services) =>
    guard.within(id, () => targets(input, services))
