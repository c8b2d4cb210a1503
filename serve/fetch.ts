import { areas, functions, jobKinds, sockets, tasks } from '../functions/index.ts'
import { createFunctionHost, createLambdaHandler } from './function-host.ts'

const { fetch, scheduled } = createFunctionHost(
  { functions, sockets, jobKinds, tasks, areas },
  process.env,
  () => new Date(),
)

/** For hosts that call `fetch` with a web request, and `scheduled` by the clock. */
export default { fetch: (request: Request) => fetch(request), scheduled: () => scheduled() }

/** For AWS Lambda. */
export const handler = createLambdaHandler({ fetch, scheduled })
