import type { Config } from '../../platform/config.ts'
import { trustsAnother } from '../forge/settings.ts'
import type { SettingValues, ShownSettings } from '../services.ts'

/** Conditions on a change of settings. */
export interface Demands {
  /** The value that the change lacks. */
  missing?: 'host_key_required' | 'hypervisor_token_required'
  /** Whether the change requires the administrator's own password. */
  proof: boolean
}

/**
 * Returns the conditions that keep stored secrets on trusted machines. Neither the service account's password (nor the
 * passwords that users type to sign in) nor the token of the hypervisor or of the forge may go to a machine that no
 * administrator trusts. So another host requires its key. Another hypervisor requires a new token, unless its certificate
 * stays the trusted one; another forge never gets the token of the former one (`boundToken`). Trusting another key, or
 * another certificate for a known token, requires the administrator's password: a stolen access token is not enough.
 */
export function demandsOf(change: SettingValues, now: ShownSettings, { forge }: Pick<Config, 'forge'>): Demands {
  const becomesOther = (key: 'ssh_host' | 'ssh_host_key' | 'hypervisor_url' | 'hypervisor_fingerprint') =>
    change[key] !== undefined && change[key] !== now[key]
  const isOtherHost = becomesOther('ssh_host') || becomesOther('ssh_host_key')
  if (isOtherHost && !change.ssh_host_key) return { missing: 'host_key_required', proof: true }

  const keepsToken = now.hypervisor_token_set && !change.hypervisor_token
  const isOtherCertificate = keepsToken && becomesOther('hypervisor_fingerprint')
  const certificate = change.hypervisor_fingerprint ?? now.hypervisor_fingerprint
  if (keepsToken && becomesOther('hypervisor_url') && change.hypervisor_url !== '' && certificate === '')
    return { missing: 'hypervisor_token_required', proof: false }
  return { proof: isOtherHost || isOtherCertificate || trustsAnother(change, now, forge) }
}
