import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'

/** The whole service with an imitated host, as in the demo. */
export async function started(env: Record<string, string> = {}) {
  const demo = await startDemo()
  return { demo, service: await startService(demo, env) }
}
