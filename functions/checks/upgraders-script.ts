/**
 * The part of an inspection that tells what else upgrades its target, as section `upgraders`: `unattended` where apt's
 * own periodic run does, and `cron <tool> <line> <file>` for a line of cron that does; the tool is `apt`, `unattended`
 * (unattended-upgrade), `lxcs` (the community script update-lxcs) or another manager; and `timer <unit>` for a timer of
 * another distribution that does. It uses `section` and `$limited` of the inspection.
 * Lines of cron may hold secrets, and every user sees findings, so only their places leave the target. Their files may
 * hold anything: it reads only regular files, 64 KiB of each, and only those with a name that cron accepts. The host
 * helper contains this text: any change of it, even of a comment, needs a new `HELPER_VERSION`.
 */
export const UPGRADERS = `
periodic() {
  command -v apt-config >/dev/null || return 1
  interval=0 enabled=1
  eval "$(apt-config shell interval APT::Periodic::Unattended-Upgrade enabled APT::Periodic::Enable)"
  case $interval in '' | 0 | 0[smhd]) return 1 ;; esac
  [ "$enabled" != 0 ] || return 1
  command -v unattended-upgrade >/dev/null || return 1
  if [ -d /run/systemd/system ]; then
    for how in is-enabled is-active; do
      \${limited:+timeout -k 2 5} systemctl --quiet $how apt-daily-upgrade.timer && return 0
    done
    return 1
  fi
  [ -x /etc/cron.daily/apt-compat ]
}
# dnf-automatic only downloads or tells unless it is set to apply.
timers() {
  [ -d /run/systemd/system ] || return 0
  for unit in dnf-automatic-install dnf5-automatic dnf-automatic transactional-update os-update; do
    \${limited:+timeout -k 2 5} systemctl --quiet is-enabled "$unit.timer" || continue
    case $unit in
      dnf5-automatic | dnf-automatic) grep -q -i -E '^[ \t]*apply_updates[ \t]*=[ \t]*(yes|true|1|on)' /etc/dnf/automatic.conf || continue ;;
    esac
    echo "timer $unit"
  done
}
cron_lines() {
  count=0
  for file in /etc/crontab /var/spool/cron/crontabs/root /var/spool/cron/root /etc/crontabs/root /etc/cron.d/*; do
    case \${file##*/} in *[!A-Za-z0-9_-]*) continue ;; esac
    [ -f "$file" ] && [ -r "$file" ] || continue
    count=$((count + 1))
    [ "$count" -le 50 ] || break
    head -c 65536 "$file" | tr -d '\\000' | awk -v file="$file" '
      /^[ \\t]*[0-9*@]/ {
        tool = ""
        count = split($0, parts, /[;&|]+/)
        for (i = 1; i <= count && tool == ""; i++) {
          part = " " parts[i] " "
          if (part ~ /[^A-Za-z0-9_-](cron-)?update-lxcs(-cron)?[^A-Za-z0-9_-]/) tool = "lxcs"
          else if (part ~ /[ \\t\\/"\\047(]unattended-upgrades?[ \\t"\\047)<>]/) {
            if (part !~ /[ \\t]--dry-run[ \\t]/) tool = "unattended"
          } else if (part ~ /[ \\t\\/"\\047(](apk|dnf|yum|zypper)[ \\t](.*[ \\t])?(upgrade|update|up|dup|dist-upgrade|patch)[ \\t"\\047)<>]/ || part ~ /[ \\t\\/"\\047(]pacman[ \\t]+-[a-z]*Sy*u/) {
            tool = part ~ /zypper/ ? "zypper" : part ~ /pacman/ ? "pacman" : part ~ /[^a-z]apk[ \\t]/ ? "apk" : "dnf"
            # The other words of apk only refresh its lists.
            if (tool == "apk" && part !~ /[ \\t]upgrade[ \\t"\\047)<>]/) tool = ""
            if (part ~ /[ \\t]--(simulate|dry-run|downloadonly|download-only|assumeno|print)[ \\t"\\047)<>]/) tool = ""
          } else if (match(part, /[ \\t\\/"\\047(]apt(-get|itude)?[ \\t](.*[ \\t])?(dist-|full-|safe-)?upgrade[ \\t"\\047)<>]/)) {
            part = substr(part, RSTART)
            if (part !~ /[ \\t](-[a-z]*[sd][a-z]*|--(simulate|just-print|dry-run|recon|no-act|print-uris|download-only))[ \\t"\\047)<>]/) tool = "apt"
          }
        }
        if (tool != "") print "cron", tool, NR, file
      }'
  done
}
{
  ! periodic || echo unattended
  timers
  cron_lines | head -n 20
} 2>/dev/null </dev/null | section upgraders
`
