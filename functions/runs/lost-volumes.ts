import { type Host, SshError } from '../../ssh/ssh.ts'
import { CONTAINER_TOOL } from '../hypervisor/pct.ts'
import { type Archived, lostVolumes } from '../protection/archive.ts'

/**
 * Asks the host which volumes of a container the restoration of its backup destroys without giving them back: each has the
 * key in the configuration, and the place. A container that does not exist any more has none, because a restoration that
 * failed has destroyed it. Rejects with an SshError when the configuration cannot be read.
 */
export async function lossesOf(host: Host, id: string, archived: Archived | null) {
  const { code, stdout, stderr } = await host.exec([CONTAINER_TOOL, 'config', id], { rights: 'command' })
  if (code === 0) return lostVolumes(stdout, archived)
  if (stderr.includes('does not exist')) return []
  throw new SshError('refused', stderr.trim().split('\n').at(-1) ?? '')
}
