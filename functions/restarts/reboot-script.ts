import { CONTAINER_TOOL } from '../hypervisor/pct.ts'
import { HOST_HELPER } from '../../ssh/ssh.ts'
import { NOT_ALLOWED } from './restart-script.ts'

/** How long a reboot may take, from the moment in which it is asked for until the host is back. */
export const REBOOT_SECONDS = 900
/** A reboot that cannot begin so soon after its request does not begin at all. */
export const WAITING_SECONDS = 900

/** The exit codes of `REBOOT`, beside `NOT_ALLOWED`: nothing was done for the first three. */
export const OTHER_HOST = 65
export const BACKUP_RUNS = 69
export const TOO_LATE = 75
export const REBOOT_REFUSED = 71
export const STILL_UP = 70

/**
 * The shell function `backup_runs`: whether somebody holds vzdump's lock, or a backup of the hypervisor runs. The file of
 * the lock stays after a backup, so only /proc/locks tells, which everybody may read. A process of a container has a
 * number in a second namespace, and cannot pass for a backup.
 */
const BACKUP = `
backup_runs() {
  set -- $(stat -L -c '%d %i' /run/vzdump.lock 2>/dev/null)
  if [ "$#" = 2 ]; then
    held=$(printf '%02x:%02x:%s' $(($1 >> 8 & 4095)) $(($1 & 255 | $1 >> 12 & 1048320)) "$2")
    ! grep -q " FLOCK .* $held " /proc/locks || return 0
  fi
  for each in $(grep -l -s -x -e vzdump /proc/[1-9]*/comm) \\
    $(grep -l -s -a -E -e '^task UPID:[^:]*:[0-9A-F]*:[0-9A-F]*:[0-9A-F]*:vzdump:' /proc/[1-9]*/cmdline); do
    grep -q -s -E -e '^Uid:[[:space:]]+0[[:space:]]' "\${each%/*}/status" || continue
    ! grep -q -s -E -e '^NSpid:[[:space:]]+[0-9]+$' "\${each%/*}/status" || return 0
  done
  return 1
}`

/** The shell function `is_stopping`: whether systemd goes down. It says `stopping` then. */
const STOPPING = `
is_stopping() { timeout -k 1 8 systemctl is-system-running </dev/null 2>/dev/null | grep -x stopping; }`

/** Output before this line comes from the account's start-up files. */
export const LOOK_MARK = 'ops-panel boot'

/**
 * `LOOK`, without rights: a line with the mark, then the host's name, its boot id, its time in seconds since 1970, `backup`
 * or `free`, `stopping` where the system goes down, else the state of the unit that starts the hypervisor's guests
 * (`active` when it has started them), and `end`.
 */
export const LOOK = `
export LC_ALL=C${BACKUP}${STOPPING}
echo '${LOOK_MARK}'
uname -n
cat /proc/sys/kernel/random/boot_id
date +%s
if backup_runs; then echo backup; else echo free; fi
if ! is_stopping; then
  guests=$(timeout -k 1 8 systemctl is-active pve-guests.service </dev/null 2>/dev/null)
  echo "\${guests:-unknown}"
fi
echo end
`

/**
 * `REBOOT <sudo> <name> <boot id> <until>` reboots the host with that name, unless it has been rebooted since that boot
 * or its time is after `<until>`, in seconds since 1970. systemd stops the guests in the hypervisor's order, and ends this
 * script too. Writes notes, one a line, before: `ran <id> <name>` for each running container, or `unlisted`; then `asked
 * <seconds since 1970>`. Exits with 70 when it still runs 15 minutes later.
 */
export const REBOOT = `
sudo=$1 name=$2 boot=$3 until=$4 helper=
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"${BACKUP}${STOPPING}
case $sudo in *${HOST_HELPER}) helper=1 ;; esac
if [ "$(cat /proc/sys/kernel/random/boot_id)" != "$boot" ]; then
  echo 'The host has been rebooted in the meantime.'
  exit 0
fi
[ "$(uname -n)" = "$name" ] || exit ${OTHER_HOST}
[ "$(date +%s)" -le "$until" ] || exit ${TOO_LATE}
if [ -n "$sudo" ] && [ -z "$helper" ] && ! $sudo -l /usr/bin/systemctl reboot </dev/null >/dev/null 2>&1; then
  printf 'The sudo rule does not allow this. It lacks a program: %s ALL=(root) NOPASSWD: /usr/bin/systemctl\\n' "$(id -un)"
  exit ${NOT_ALLOWED}
fi
if [ -x ${CONTAINER_TOOL} ]; then
  if [ -n "$helper" ]; then set -- $sudo list; else set -- $sudo ${CONTAINER_TOOL} list; fi
  if list=$(timeout -k 5 60 "$@" </dev/null 2>/dev/null); then
    printf '%s\\n' "$list" | while read -r id status rest; do
      case $id in '' | *[!0-9]*) continue ;; esac
      [ "$status" = running ] || continue
      name=\${rest##* }
      case $name in '' | *[!A-Za-z0-9.-]*) name=$id ;; esac
      printf 'ran %.9s %.63s\\n' "$id" "$name" >&9
    done
  else
    echo 'The containers that run cannot be listed.'
    echo unlisted >&9
  fi
fi
! backup_runs || exit ${BACKUP_RUNS}
printf 'asked %s\\n' "$(date +%s)" >&9
echo 'The host is asked to reboot.'
if [ -n "$helper" ]; then set -- $sudo reboot-host; else set -- $sudo /usr/bin/systemctl reboot; fi
"$@" </dev/null 2>&1 9>&-
code=$?
# A signal is the end that comes with the reboot itself, and so may be the failure of a call that systemd no longer answers.
[ "$code" = 0 ] || [ "$code" -gt 128 ] || is_stopping >/dev/null || exit ${REBOOT_REFUSED}
sleep ${REBOOT_SECONDS} 9>&-
exit ${STILL_UP}
`
