/*
 * The services that no button restarts, because more than themselves would go down. The check offers none of them, the
 * endpoint takes none, and the script on the host compares the names once more. A new pattern is another text of the
 * host helper, so it needs a new `HELPER_VERSION`.
 */

/** Patterns of the shell for names of units without `.service`, and the reason in French. */
const NEVER: readonly { names: readonly string[]; why: string }[] = [
  { names: ['dbus*'], why: 'tout le système communique par D-Bus, et perdrait ses connexions.' },
  {
    // Those of systemd itself: others may have a name that begins alike.
    names: [
      ...['coredump@*', 'cryptsetup@*', 'exit', 'fsck*', 'halt', 'hibernate*', 'homed*', 'hostnamed', 'hybrid-sleep'],
      ...['importd', 'initctl', 'journal-flush', 'journal-gatewayd', 'journal-remote', 'journal-upload', 'journald'],
      ...['journald@*', 'kexec', 'localed', 'logind', 'machined', 'mountfsd', 'networkd*', 'nspawn@*', 'nsresourced'],
      ...['oomd', 'portabled', 'poweroff', 'reboot', 'resolved', 'soft-reboot', 'suspend*', 'sysupdated', 'timedated'],
      ...['timesyncd', 'tmpfiles-*', 'udev-*', 'udevd', 'update-utmp*', 'user-sessions', 'userdbd', 'vmspawn@*'],
    ].map((name) => `systemd-${name}`),
    why: 'c’est une partie de systemd, dont les autres services et les sessions dépendent.',
  },
  {
    names: [
      ...['user@*', 'user-runtime-dir@*', 'getty@*', 'autovt@*', 'console-getty', 'container-getty@*'],
      ...['serial-getty*', 'display-manager', 'elogind*', 'gdm*', 'lightdm', 'lxdm', 'sddm', 'slim', 'wdm', 'xdm'],
      // systemd starts one for each connection.
      ...['ssh@*', 'sshd@*', 'sshd-*@*', 'dropbear@*'],
    ],
    why: 'les sessions ouvertes seraient fermées.',
  },
  {
    names: [
      ...['lxc*', 'lxd*', 'incus*', 'docker*', 'containerd*', 'podman*', 'libpod*', 'conmon*', 'crio*'],
      ...['pve-container@*', 'pve-guests', 'pve-lxc*', 'qemu-server*'],
      ...['snap.docker.*', 'snap.lxd.*', 'snap.microk8s.*'],
    ],
    why: 'des conteneurs s’arrêteraient avec lui.',
  },
  {
    names: [
      ...['pve-*', 'pvedaemon', 'pvescheduler', 'proxmox-backup*', 'corosync*', 'pacemaker*', 'watchdog-mux'],
      ...['ceph-*', 'ceph@*', 'libvirt*', 'virtlogd', 'virtlockd', 'virtqemud', 'virtlxcd', 'xendomains'],
    ],
    why: 'les invités, leurs tâches ou la grappe dépendent de lui.',
  },
  {
    names: [
      ...['network*', 'NetworkManager*', 'ifup*', 'wpa_supplicant*', 'dhclient*', 'dhcpcd*', 'connman*'],
      ...['openvswitch*', 'ovs-*', 'ovsdb-*', 'ModemManager', 'iwd', 'netplan-*', 'wicked*'],
      // Routes and tunnels, through which the way to the machine may lead.
      ...['bird*', 'frr', 'quagga', 'openvpn*', 'wg-quick@*', 'tinc*', 'openswan*', 'libreswan*', 'strongswan*'],
    ],
    why: 'le réseau serait coupé, et l’accès avec lui.',
  },
  { names: ['init', 'systemd', 'emergency', 'rescue*'], why: 'c’est le système lui-même.' },
]

/** The alternatives of a `case` of the shell. */
export const NEVER_PATTERNS = NEVER.flatMap(({ names }) => names).join(' | ')

const PATTERNS = NEVER.map(({ names, why }) => ({ why, pattern: new RegExp(`^(?:${names.map(regular).join('|')})$`) }))

function regular(pattern: string): string {
  return pattern.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('*', '.*')
}

/** Returns why a service is never restarted, a French clause; undefined for one that may be. The name lacks `.service`. */
export function whyNever(name: string): string | undefined {
  return PATTERNS.find(({ pattern }) => pattern.test(name))?.why
}

/** The name of a unit of type service, without `.service`, which scripts append to a name that lacks it. They take no other ones. */
export function isServiceName(name: string): boolean {
  return !name.endsWith('.service') && /^[A-Za-z0-9:_@\\][A-Za-z0-9:_.@\\-]{0,189}$/.test(name)
}
