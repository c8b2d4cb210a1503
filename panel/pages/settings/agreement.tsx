import type { Answer } from '../../../client/index.ts'
import { askProof } from '../../parts/dialog.tsx'
import { api } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'

export type Settings = Answer<'GET /api/settings'>

/** The extra values of a confirmed change. */
interface Agreement {
  ssh_host_key?: string
  current_password?: string
}

/**
 * Asks for the confirmation that a change needs. A new host is shown by its key, which is read without sending a password; a new
 * certificate for the stored token is shown by its fingerprint. Both need the user's own password. Undefined when the user declines.
 */
export async function agreement(
  known: Settings,
  change: Readonly<Record<string, string>>,
): Promise<Agreement | undefined> {
  const say = words().settings
  const { ssh_host, hypervisor_fingerprint, hypervisor_token } = change
  if (ssh_host !== undefined) {
    const { ssh_host_key } = await api('POST /api/settings/host-key', { body: { ssh_host } })
    const current_password = await askProof({
      title: say.moveTitle(ssh_host),
      text: (
        <>
          <p>{ssh_host_key.endsWith(known.ssh_host_key) && known.ssh_host_key ? say.moveSameKey : say.moveKey}</p>
          <p class="mono key">{ssh_host_key}</p>
          <p>{say.moveText}</p>
        </>
      ),
      verb: say.move,
      danger: true,
    })
    return current_password === undefined ? undefined : { ssh_host_key, current_password }
  }
  if (hypervisor_fingerprint !== undefined && known.hypervisor_token_set && !hypervisor_token) {
    const question = { title: say.certificateTitle, text: say.certificateText, verb: say.save }
    const current_password = await askProof(question)
    return current_password === undefined ? undefined : { current_password }
  }
  return {}
}
