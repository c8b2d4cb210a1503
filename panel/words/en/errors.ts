import type { errors as fr } from '../fr/errors.ts'

export const errors: typeof fr = {
  account_kept_out:
    'The host does not let your account work: no shell, a password to be changed, or an expired account. Have it mended on the host, then sign in again.',
  already_installed: 'Set-up is done already. Sign in; settings are changed in the panel.',
  answer_too_large: 'The answer is too long for this hosting. Open the outputs one by one.',
  bad_credentials: 'Wrong user name or password. Check both and try again.',
  body_too_large: 'What is sent is too long. Shorten it and try again.',
  commit_changed: 'This module has changed since the list was read. Look at what it shows now, then try again.',
  container_locked: 'Another operation holds the container. Wait until it ends and try again.',
  container_missing: 'This container is gone, or the panel does not see it. Refresh the list.',
  core_module: 'This module is part of the panel: it is not replaced, disabled or removed.',
  credentials_missing: 'Enter the user name and the password.',
  deployer_missing: 'This module has code, which the service loads at its start only. Follow what is said here:',
  deployment_busy: 'Another installation is under way. Wait until it ends and try again.',
  deployment_missing: 'This installation is not known any more. Refresh the list of modules.',
  forbidden: 'Only administrators of the host may do this. Ask one of them.',
  forge_failed: 'The forge cannot be read. See that it answers and try again.',
  forge_missing: 'There is no forge. Give the service PANEL_FORGE_URL and PANEL_FORGE_ORG.',
  headers_too_large: 'The request is too long. Clear the cookies of this site and try again.',
  host_check_failed: 'The host cannot be used. Mend what is said and try again.',
  host_helper_lacks:
    'On the host the service account has its rights by ops-panel-host alone, which does not allow this. Give it sudo, or do it on the host.',
  host_key_changed:
    'The SSH key of the host has changed. Do not enter your password again: tell an administrator. They will compare the new key and accept it on the server, by “ops-panel settings set ssh_host_key”.',
  host_key_required: 'Another host takes its key. Read it and compare it, then try again.',
  host_answer_too_long:
    'The list of the host or of the container is longer than what is accepted, so nothing of it is shown. Look at it there.',
  hypervisor_certificate:
    'The certificate of the hypervisor is not known. Compare its fingerprint, then store it in the settings.',
  hypervisor_forbidden: 'The token lacks rights on the hypervisor. Grant them and try again.',
  hypervisor_in_clear:
    'The address of the hypervisor is http:, without a certificate to compare. Correct it in the settings, or empty the fingerprint.',
  hypervisor_node_unknown: 'The hypervisor has several nodes. Give the address of this host’s own in the settings.',
  hypervisor_refused: 'The hypervisor has refused. Read its reason, and try again once it is mended.',
  hypervisor_token_required:
    'The address of the hypervisor changes: enter its token too, which the panel sends to no other machine.',
  hypervisor_token_unreadable:
    'The token of the hypervisor cannot be decrypted any more. Enter it again in the settings.',
  hypervisor_unauthorized: 'The hypervisor does not know the token. Check it in the settings.',
  hypervisor_unreachable: 'The hypervisor does not answer. Check its address in the settings, and that it runs.',
  hypervisor_unreadable: 'The answer of the hypervisor is of no use. See that its address leads to it.',
  job_kind_missing:
    'The service no longer knows this kind of job: what brought it was removed, or could not be loaded. What has begun on the host goes on there.',
  job_not_started: 'The host could not begin the job. See what it says, then start it again.',
  host_rebooted: 'The host rebooted before the end. Start the upgrade again: it first repairs what was left half-way.',
  job_killed: 'The job was killed on the host. Start the upgrade again: it first repairs what was left half-way.',
  job_folder_missing:
    'The host has nothing left of this job: its folder under /var/tmp is gone. Start the upgrade again.',
  job_code_missing:
    'The job ended without being able to write its exit code. Free some space on the host, then start it again.',
  internal: 'Something went wrong inside. Try again; the number of the request leads to its cause in the logs.',
  invalid_descriptor: 'The module’s descriptor (module.json) is invalid. Tell its author.',
  invalid_json: 'The request cannot be read. Reload the page and try again.',
  invalid_request: 'The request is invalid. Correct the fields that are marked.',
  job_ended: 'This upgrade has ended already. Read its result.',
  job_missing: 'This upgrade does not exist, or is not kept any more. Go back to the history.',
  login_busy: 'Too many people are signing in. Wait a few seconds and try again.',
  login_rate_limited: 'Too many attempts to sign in. Wait, then try again.',
  malformed_http: 'The request is malformed. Reload the page and try again.',
  method_not_allowed: 'The service does not know this action. Reload the page: it may have changed.',
  module_busy: 'This module is being changed already. Wait for the end and try again.',
  module_missing: 'This module is gone. Refresh the list.',
  modules_folder_unusable:
    'The folder of the modules cannot be used. Mend its permissions on the server and try again.',
  network_failed: 'The service does not answer. Check your connection; the page tries again by itself.',
  not_configured: 'The service is not configured. Its log says which variable is missing or wrong.',
  not_found: 'This address does not exist. Reload the page: the service may have changed.',
  origin_forbidden: 'This address of the panel is not allowed. Add it to PANEL_ORIGINS.',
  preference_invalid: 'There is no such preference. Reload the page and try again.',
  profile_missing: 'The panel does not know your account any more. Sign in again.',
  proof_impossible:
    'The present host cannot check your password. On the server, “ops-panel settings set” changes the settings without it.',
  proof_required: 'This change takes your own password. Try again and enter it.',
  proof_wrong: 'The host has not accepted your password. Nothing has changed: check it and try again.',
  queue_full: 'Too many upgrades are running or waiting already. Wait until one of them ends, then try again.',
  rate_limited: 'Too many requests in a short time. Wait a minute and try again.',
  refresh_invalid: 'Your session is invalid or has expired. Sign in again.',
  refresh_missing: 'There is no session. Sign in.',
  repository_missing: 'This repository is not on the forge, or cannot be read. Check the rights of the forge’s token.',
  request_timeout: 'The request did not arrive in time. Check your connection and try again.',
  session_ended: 'Your session has ended. Sign in again.',
  session_missing: 'This session has ended already. Refresh the list.',
  setup_token_wrong:
    'This is not the setup token. The service shows it at its start and keeps it in its data folder (setup-token).',
  sockets_missing: 'This hosting has no WebSocket: there is no terminal here.',
  check_missing: 'This target was never checked. Check it, then try again.',
  remedy_unknown: 'Nothing is left to mend in this way on this target. Check it again.',
  ssh_failed: 'The SSH connection to the host has failed. See that the host answers, then try again.',
  ssh_host_missing: 'There is no SSH host. Finish setting the panel up.',
  ssh_incomplete:
    'The SSH settings are incomplete: host, user and password are needed. Set them on the server with “ops-panel settings set”.',
  ssh_password_unreadable:
    'The SSH password cannot be decrypted any more. Set it again on the server with “ops-panel settings set ssh_password”.',
  ssh_throttled:
    'For now the host refuses connections of the panel, after refused passwords or too many connections at once. Wait a minute and try again; if it comes back, tell an administrator.',
  ssh_unreachable: 'The SSH host does not answer. See that it runs and can be reached, then try again.',
  storage_failed: 'The panel’s database does not answer. Wait and try again; else see the logs.',
  target_invalid: 'This target is not valid. Correct it and try again.',
  target_missing: 'Choose a target.',
  terminals_busy: 'Too many terminals are open. Close one and try again.',
  unauthenticated: 'You are not signed in any more. Sign in again.',
  unexpected_answer: 'Something other than the service has answered, a proxy perhaps. Reload the page.',
  user_missing: 'This account does not exist any more. Sign in with another one.',
}
