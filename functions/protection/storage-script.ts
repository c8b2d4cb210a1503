/**
 * `STORAGE all|<id>`, on the host: tells of all containers, or of one, which kind of volume each mount point is and
 * which snapshots exist, and of each storage its type and whether it takes backups. It reads the configuration files
 * once and runs no `pct`. It prints nothing else of them, because the output of a check is for every user. It ends with
 * `end` unless something was cut off. Formats: pct.conf(5), `PVE::Storage` for storage.cfg. The host helper contains
 * this text as its verb `storage all|<id>`: any change of it, even of a comment, needs a new `HELPER_VERSION`.
 */
export const STORAGE = `
case $1 in
  all) set -- /etc/pve/lxc/[1-9]*.conf ;;
  '' | *[!0-9]*) exit 64 ;;
  *) set -- "/etc/pve/lxc/$1.conf" ;;
esac
export LC_ALL=C
storages=/etc/pve/storage.cfg
node=$(readlink /etc/pve/local)
{
  # Without the file there is the storage local alone; a file that the account may not read tells nothing.
  if [ -r "$storages" ] || { [ -d /etc/pve/lxc ] && [ ! -e "$storages" ]; }; then echo storages; fi
  grep -s -a -H -E '^([a-z]+: |[[:space:]]+(content|nodes|disable)([[:space:]]|$))' "$storages"
  grep -s -a -H -E '^(\\[|(rootfs|mp[0-9]+|snaptime): )' "$@"
  echo end
} 2>/dev/null | head -c 2097152 | awk -v node="\${node##*/}" '
  function told_storage() {
    if (storage == "") return
    if (storage == "local") local = 1
    if (content == "" && (type == "pbs" || type == "cephfs")) content = "backup"
    takes = !off && content ~ /(^|,)backup(,|$)/ && (nodes == "" || node == "" || index("," nodes ",", "," node ","))
    print "storage", storage, type, takes ? "backup" : "-"
    storage = ""
  }
  function told_storages() {
    told_storage()
    if (known && !local) print "storage local dir backup"
    local = 1
  }
  function told_snapshot() {
    if (section ~ /^[A-Za-z][A-Za-z0-9_-]*$/ && section != "vzdump") print "snapshot", id, section, time
    section = ""
    time = 0
  }
  $0 == "storages" {
    print
    known = 1
    next
  }
  $0 == "end" {
    ended = 1
    next
  }
  {
    file = substr($0, 1, index($0, ":") - 1)
    line = substr($0, length(file) + 2, 4096)
    words = split(line, word)
  }
  file ~ /storage[.]cfg$/ {
    if (line ~ /^[a-z]/) {
      told_storage()
      storage = word[2]
      type = substr(word[1], 1, length(word[1]) - 1)
      content = nodes = off = ""
    } else {
      list = word[2]
      for (at = 3; at <= words; at++) list = list "," word[at]
      if (word[1] == "content") content = list
      if (word[1] == "nodes") nodes = list
      if (word[1] == "disable") off = list != "0"
    }
    next
  }
  file != last {
    told_storages()
    told_snapshot()
    last = id = file
    sub(/.*\\//, "", id)
    sub(/[.]conf$/, "", id)
    current = 1
    print "container", id
  }
  line ~ /^\\[/ {
    told_snapshot()
    section = substr(line, 2, index(line, "]") - 2)
    current = 0
    next
  }
  line ~ /^snaptime: / {
    time = word[2]
    next
  }
  current {
    count = split(substr(line, index(line, ": ") + 2), part, ",")
    volume = part[1]
    for (at = 1; at <= count; at++) if (part[at] ~ /^volume=/) volume = substr(part[at], 8)
    name = substr(word[1], 1, length(word[1]) - 1)
    if (volume ~ /^\\/dev\\//) print "volume", id, name, "device"
    else if (volume ~ /^\\//) print "volume", id, name, "bind"
    else if (index(volume, ":")) print "volume", id, name, "storage", substr(volume, 1, index(volume, ":") - 1)
  }
  END {
    told_storages()
    told_snapshot()
    if (ended) print "end"
  }'
`
