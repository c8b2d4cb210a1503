import { stat } from 'node:fs/promises'
import type { Config } from './config.ts'

/** Where a container of Docker's is told by. */
const IN_CONTAINER = '/.dockerenv'

/**
 * How a service is restarted with a changed module, where nothing is said of it: in a container that reaches its engine, by
 * another container; started by systemd itself, by a process that owns the port. Elsewhere it is not: who starts a service
 * by hand sees one process.
 */
export async function detectDeployer(
  { deployer, dockerSocket }: Pick<Config, 'deployer' | 'dockerSocket'>,
  environment: Record<string, string | undefined>,
  pid: number,
  inContainer = IN_CONTAINER,
): Promise<NonNullable<Config['deployer']>> {
  if (deployer !== undefined) return deployer
  if ((await statOf(inContainer))?.isFile() && (await statOf(dockerSocket))?.isSocket()) return 'docker'
  // It also reaches the programs that such a service starts, as a shell on the host.
  return environment.SYSTEMD_EXEC_PID === String(pid) ? 'process' : 'none'
}

const statOf = (path: string) => stat(path).catch(() => undefined)
