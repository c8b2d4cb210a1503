package Rig::Container;

# A container as LXC runs it: lxc-start over an overlay of the base, the layer of another package manager where the
# container has one, and the container's own layer; lxc-stop.
use strict;
use warnings;
use Exporter 'import';
use Rig::Configuration;
use Rig::Volumes;

our @EXPORT = qw(is_running begin end freeze unfreeze);

my $rig = '/var/lib/rig';    # base and layers (read-only), containers, configs (with the name of a layer in ID.layer)
my $lxc = read_lines('/etc/lxc/lxc.conf') =~ /^lxc\.lxcpath\s*=\s*(\S+)/m ? $1 : '/var/lib/lxc';
my $cgroup = $lxc =~ s{.*/}{}r;

# As PVE::LXC::list_active_containers finds them: by the command sockets of their monitors.
sub is_running { my ($id) = @_; return read_lines('/proc/net/unix') =~ m{\s@\Q$lxc\E/$id/command$}m; }

# Starts a container; its lock must be held. Fails with the texts of `pct start`.
sub begin {
  my ($id) = @_;
  my $config = current($id);
  fail("you can't start a CT if it's a template\n") if $config->{template};
  refuse_locked($config);
  my ($folder, $own, $name) = ("$lxc/$id", "$rig/containers/$id", $config->{hostname} // "CT$id");
  my $root = "$folder/rootfs";
  system('mkdir', '-p', $root, "$own/upper", "$own/work");
  unmount($id);
  my $layer = read_lines("$rig/configs/$id.layer") =~ s/\s+\z//r;
  my $lower = ($layer eq '' ? '' : "$rig/layers/$layer:") . "$rig/base";
  system('mount', '-t', 'overlay', "ct$id", '-o', "lowerdir=$lower,upperdir=$own/upper,workdir=$own/work", $root) == 0
    or fail("mount of rootfs failed\n");
  write_lines("$root/etc/hostname", $name);
  write_lines("$root/etc/hosts", '127.0.0.1 localhost', "127.0.1.1 $name");
  write_lines("$folder/config", "lxc.rootfs.path = dir:$root", "lxc.uts.name = $name", 'lxc.init.cmd = /sbin/rig-init',
    'lxc.mount.auto = proc:mixed sys:mixed cgroup:mixed', 'lxc.autodev = 1', 'lxc.pty.max = 1024',
    'lxc.apparmor.profile = unconfined', 'lxc.net.0.type = ' . ($config->{'lxc.net.0.type'} // 'empty'), 'lxc.signal.halt = SIGTERM',
    "lxc.cgroup.dir.container = $cgroup/lxc/$id", "lxc.cgroup.dir.monitor = $cgroup-monitor/$id",
    "lxc.cgroup.dir.monitor.pivot = $cgroup-pivot", map { mounted($_, $own) } mount_points($config));
  system('lxc-start', '-n', $id, '-o', "/var/log/lxc-$id.log") == 0 or fail("startup for container '$id' failed\n");
}

# The line of LXC for a mount point, whose source is made at its first use.
sub mounted {
  my ($point, $own) = @_;
  my $source = $point->{is_bind} ? $point->{source} : "$own/$point->{key}";
  system('mkdir', '-p', $source);
  return "lxc.mount.entry = $source " . ($point->{mp} =~ s{^/+}{}r) . ' none bind,create=dir 0 0';
}

# end(ID, WORD...): stops a container with these words for lxc-stop.
sub end {
  my ($id, @how) = @_;
  system('lxc-stop', '-n', $id, @how) == 0 or fail("container did not stop\n");
  for (1 .. 200) { last if !is_running($id); select(undef, undef, undef, 0.01); }
  unmount($id);
}

sub unmount {
  my ($id) = @_;
  my $root = "$lxc/$id/rootfs";
  system('umount', '-l', $root) if read_lines('/proc/self/mounts') =~ m{^\S+ \Q$root\E }m;
}

sub freeze { my ($id) = @_; return is_running($id) && system('lxc-freeze', '-n', $id) == 0; }
sub unfreeze { my ($id) = @_; system('lxc-unfreeze', '-n', $id); }

1;
