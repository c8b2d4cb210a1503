import { startDemo } from '../../runtime/demo.ts'
import { startService } from '../../serve/service.ts'

/** The whole service for an imitated host, as the demonstration shows it. */
export async function started(env: Record<string, string> = {}) {
  const demo = await startDemo()
  return { demo, service: await startService(demo, env) }
}
