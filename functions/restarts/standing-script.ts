/**
 * The part of an inspection that tells where its target is, as section `standing`: `place <boot id> <pid namespace>`,
 * `address <address> <interface or ->` for each address but those of the loopback interface, and, for root, `inner <pid
 * namespace> <control group>` for each namespace of a container that it sees. The service compares them with its own
 * place, so the target learns nothing of it. It uses `section` of the inspection, and takes one pass over the
 * processes. The host helper contains this text: any change of it, even of a comment, needs a new `HELPER_VERSION`.
 */
export const STANDING = `
{
  own=$(readlink /proc/self/ns/pid)
  echo "place $(cat /proc/sys/kernel/random/boot_id) $own"
  {
    ip -o addr show || for each in $(hostname -I); do echo "0: - inet $each"; done
  } | awk '$3 ~ /^inet6?$/ && $4 !~ "^(127[.]|::1/|fe80:)" { print "address", $4, $2 }' | head -n 64
  # BusyBox lacks these tests of find.
  namespaces() {
    if find / -maxdepth 0 ! -lname x -printf '' 2>/dev/null; then
      find /proc/[1-9]*/ns/pid -maxdepth 0 ! -lname "pid:[[]\${own#*[}" -printf '%l %p\\n'
    else
      for each in /proc/[1-9]*/ns/pid; do printf '%s %s\\n' "$(readlink "$each")" "$each"; done |
        awk -v own="$own" '$1 != own && NF == 2'
    fi
  }
  [ "$(id -u)" != 0 ] || namespaces |
    awk '!seen[$1]++ { sub(/ns.pid$/, "cgroup", $2); print }' | head -n 500 | while read -r number groups; do
    while read -r line; do
      case $line in
        */lxc/[1-9]* | */lxc.payload.[1-9]* | */docker[-/]* | */libpod-* | */cri-containerd-*)
          printf 'inner %s %s\\n' "$number" "\${line#*:*:}"
          break
          ;;
      esac
    done <"$groups"
  done | cut -c 1-400
} 2>/dev/null </dev/null | section standing
`
