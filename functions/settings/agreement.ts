import type { SettingValues, ShownSettings } from '../../runtime/setting-keys.ts'

/** What a change asks for beside its values. */
export interface Demands {
  /** What is missing in it. */
  missing?: 'host_key_required' | 'hypervisor_token_required'
  /** Whether the administrator's own password has to come along. */
  proof: boolean
}

/**
 * A stored secret goes to no machine that nobody has agreed to: neither the service account's password (and with it whatever
 * people type to sign in) nor the hypervisor's token. So another host comes with its key, and another hypervisor with a new
 * token, unless the certificate stays the agreed one. Who agrees to another key, or to another certificate for the token that
 * is there, proves who they are: a stolen access token does not do.
 */
export function demandsOf(change: SettingValues, now: ShownSettings): Demands {
  const becomesOther = (key: 'ssh_host' | 'ssh_host_key' | 'hypervisor_url' | 'hypervisor_fingerprint') =>
    change[key] !== undefined && change[key] !== now[key]
  const isOtherHost = becomesOther('ssh_host') || becomesOther('ssh_host_key')
  if (isOtherHost && !change.ssh_host_key) return { missing: 'host_key_required', proof: true }

  const keepsToken = now.hypervisor_token_set && !change.hypervisor_token
  const isOtherCertificate = keepsToken && becomesOther('hypervisor_fingerprint')
  const certificate = change.hypervisor_fingerprint ?? now.hypervisor_fingerprint
  if (keepsToken && becomesOther('hypervisor_url') && change.hypervisor_url !== '' && certificate === '')
    return { missing: 'hypervisor_token_required', proof: false }
  return { proof: isOtherHost || isOtherCertificate }
}
