import type { errors as fr } from '../fr/errors.ts'

export const errors: typeof fr = {
  account_kept_out:
    'Your account cannot work on the host: it has no shell, must change its password, or has expired. Have it fixed on the host, then sign in again.',
  already_queued:
    'An upgrade of this target is already running or waiting. Follow it, or make a plan for the next one.',
  answer_too_large: 'The answer is too long for this hosting. Open the outputs one by one.',
  bad_credentials: 'Wrong username or password. Check both and try again.',
  body_too_large: 'The request is too long. Shorten it and try again.',
  container_locked: 'Another operation holds the container. Wait until it ends, then try again.',
  container_missing: 'This container no longer exists, or the panel cannot see it. Refresh the list.',
  credentials_missing: 'Enter your username and password.',
  forbidden: 'Only administrators of the host can do this. Ask one of them.',
  host_check_failed: 'The host cannot be used. Fix the problem below, then try again.',
  host_helper_lacks:
    'On the host, the service account only has the rights of ops-panel-host, which does not allow this. Give it sudo, or do it on the host.',
  host_helper_old:
    'The program ops-panel-host on the host is too old. Replace it with the one of this service: “ops-panel host helper” says how.',
  host_key_changed:
    'The SSH host key has changed. Do not enter your password again, and tell an administrator. They must compare the new key and accept it on the server with “ops-panel settings set ssh_host_key”.',
  host_answer_too_long: 'The list from the host or container is too long to show. View it there instead.',
  hypervisor_certificate:
    'The hypervisor’s certificate is not recognized. Compare its fingerprint, then save it in the settings.',
  hypervisor_forbidden: 'The token lacks rights on the hypervisor. Grant them and try again.',
  hypervisor_in_clear:
    'The hypervisor address uses http:, so there is no certificate to compare. Correct the address in the settings, or clear the fingerprint.',
  hypervisor_node_unknown: 'The hypervisor has several nodes. In the settings, enter the address of this host’s node.',
  hypervisor_refused: 'The hypervisor refused. Read its reason, fix the cause and try again.',
  hypervisor_token_unreadable: 'The hypervisor token can no longer be decrypted. Enter it again in the settings.',
  hypervisor_unauthorized: 'The hypervisor does not recognize the token. Check it in the settings.',
  hypervisor_unreachable: 'The hypervisor does not answer. Check its address in the settings, and that it is running.',
  hypervisor_unreadable: 'The hypervisor’s answer cannot be used. Check that its address is correct.',
  job_kind_missing:
    'The service no longer knows this kind of job: its module was removed or could not be loaded. What has started on the host continues there.',
  job_not_started: 'The host could not start the job. Read its message, then start the job again.',
  host_rebooted:
    'The host restarted before the job ended. Start the upgrade again: it first repairs what was left unfinished.',
  job_killed: 'The job was killed on the host. Start the upgrade again: it first repairs what was left unfinished.',
  job_folder_missing: 'The host has no trace of this job: its folder under /var/tmp is gone. Start the upgrade again.',
  job_code_missing:
    'The job ended but could not write its exit code. Free up disk space on the host, then start the job again.',
  internal: 'Internal error. Try again. The request number leads to the cause in the logs.',
  invalid_json: 'The request cannot be read. Reload the page and try again.',
  invalid_request: 'The request is invalid. Correct the marked fields.',
  job_missing: 'This upgrade does not exist, or is no longer kept. Go back to the history.',
  login_busy: 'Too many people are signing in. Wait a few seconds and try again.',
  login_rate_limited: 'Too many sign-in attempts. Wait, then try again.',
  network_failed: 'The service does not answer. Check your connection; the page retries by itself.',
  not_configured: 'The service is not configured. Its log names the missing or wrong variable.',
  not_found: 'This address does not exist. Reload the page: the service may have changed.',
  origin_forbidden: 'This panel address is not allowed. Add it to PANEL_ORIGINS.',
  plan_missing: 'This plan is gone. Make it anew.',
  plan_empty: 'There is nothing to do with this choice. Check the target again, or choose otherwise.',
  plan_used: 'This plan has already been run. Make it anew to see what is left to do.',
  plan_not_begun:
    'The upgrade stopped before it changed anything: its output says why. Check again, then make a new plan.',
  plan_unbound:
    'Packages were changed without a comparison with the plan: the configuration of the package manager prevents it. Read the output.',
  plan_changed:
    'The upgrade would no longer have been that of the plan: nothing was changed. Compare, then make a new plan.',
  plan_expired: 'This plan is more than an hour old. Make it anew: it will show what has changed since.',
  plan_of_another_user: 'This plan is somebody else’s. Make your own to choose in it.',
  plan_of_another_target: 'This plan is for another target. Make it anew.',
  protection_unavailable:
    'The protection that was asked for could not be made: nothing was upgraded. Read why, then try again or change the protection.',
  probe_unavailable:
    'The program ops-panel-host of the host runs no probe of the kind command: nothing was upgraded. Take the probe out, or give sudo to the service account.',
  source_changed: 'This is not what was read, and nothing was run. Read it again, then agree to it.',
  application_asks: 'The update asks a question and was stopped. Run "update" in a terminal of the container.',
  application_refused: 'The update wanted to run code that nobody has agreed to, and was stopped. Read its output.',
  application_not_begun: 'The update did not begin; its output says why. Then try again.',
  application_not_installed:
    'The script did not find the application and updated nothing. Look at the container in a terminal.',
  systemctl_not_allowed:
    'The sudo rule of the service account does not allow systemctl. Add the line that the output gives, then try again.',
  backup_running: 'A backup is running. Reboot the host when it has ended.',
  jobs_running: 'Another job is running or waiting. Reboot the host when it has ended.',
  reboot_late: 'The reboot could not begin in time: nothing was done. Try again.',
  reboot_refused: 'The host has refused to reboot. The output says why.',
  reboot_missing:
    'The host did not reboot within 15 minutes, and may still do so. Look at its console for what holds it.',
  host_not_back:
    'The host has not answered since its reboot, or the network is missing. Look at its console whether it has started.',
  plan_impossible: 'This upgrade is not possible until what blocks it is resolved.',
  plans_busy: 'Too many plans are being made. Wait a moment, then make this one anew.',
  profile_missing: 'The panel no longer knows your account. Sign in again.',
  queue_full: 'Too many upgrades are already running or waiting. Wait until one of them ends, then try again.',
  rate_limited: 'Too many requests in a short time. Wait a minute and try again.',
  refresh_invalid: 'Your session is invalid or has expired. Sign in again.',
  refresh_missing: 'You have no open session. Sign in.',
  request_timeout: 'The request did not arrive in time. Check your connection and try again.',
  session_ended: 'Your session has ended. Sign in again.',
  setup_token_wrong:
    'This is not the setup token. The service shows it at startup and keeps it in its data folder (setup-token).',
  sockets_missing: 'This hosting does not support WebSockets, so it has no terminal.',
  check_missing: 'This target was never checked. Check it, then try again.',
  remedy_unknown: 'This target has nothing left to repair this way. Check it again.',
  ssh_failed: 'The SSH connection to the host failed. Check that the host answers, then try again.',
  ssh_host_missing: 'The SSH host is not configured. Finish the setup of the panel.',
  ssh_incomplete:
    'The SSH settings are incomplete: they need a host, a user and a password. Set them on the server with “ops-panel settings set”.',
  ssh_password_unreadable:
    'The SSH password can no longer be decrypted. Set it again on the server with “ops-panel settings set ssh_password”.',
  ssh_throttled:
    'The host is refusing connections from the panel for now, after wrong passwords or too many connections at once. Wait a minute and try again. If this happens again, tell an administrator.',
  ssh_unreachable: 'The SSH host does not answer. Check that it is running and reachable, then try again.',
  storage_failed: 'The panel’s database does not answer. Wait and try again; if that fails, read the logs.',
  target_invalid: 'This target is invalid. Correct it and try again.',
  target_missing: 'Choose a target.',
  terminals_busy: 'Too many terminals are open. Close one and try again.',
  unauthenticated: 'You are no longer signed in. Sign in again.',
  unexpected_answer: 'The answer did not come from the service, but perhaps from a proxy. Reload the page.',
  user_missing: 'This account no longer exists. Sign in with another one.',
}
