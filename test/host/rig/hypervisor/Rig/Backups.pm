package Rig::Backups;

# Archives of containers: where storages keep them, `pct restore` and `pvesm`. vzdump makes them: a tar of the
# container's layer and volumes, in place of one of its whole root.
use strict;
use warnings;
use Exporter 'import';
use Rig::Configuration;
use Rig::Container;
use Rig::Volumes;

our @EXPORT = qw(storages backup_folder archives archive_path remove_archive restore);

# Below these folders a storage has files `vzdump-lxc-…`; the Proxmox Backup Server `vault` has `ct/<id>/<time>`.
my %FOLDERS = (local => '/var/lib/vz/dump', nas => '/mnt/pve/nas/dump', vault => '/var/lib/rig/vault');

# The storages of storage.cfg: their type, their content, and how many backups of a guest `prune-backups` keeps.
sub storages {
  my (%storages, $storage);
  for (split /\n/, read_lines('/etc/pve/storage.cfg')) {
    if (/^([a-z]+): (\S+)/) { $storage = $storages{$2} = { type => $1, content => {}, keeps => 0 }; }
    elsif (/^\s+content (\S+)/) { $storage->{content}{$_} = 1 for split /,/, $1; }
    elsif (/^\s+prune-backups keep-last=(\d+)/) { $storage->{keeps} = $1; }
  }
  return \%storages;
}

# The folder of a storage's backups, or undef where it takes none.
sub backup_folder {
  my ($storage) = @_;
  my $known = storages()->{$storage};
  return $known && $known->{content}{backup} ? $FOLDERS{$storage} : undef;
}

# The archives of a container on a storage, as its volumes: the oldest first.
sub archives {
  my ($storage, $id) = @_;
  my $folder = backup_folder($storage);
  my $pattern = storages()->{$storage}{type} eq 'pbs' ? "$folder/ct/$id/*Z" : "$folder/vzdump-lxc-$id-*.tar*";
  return map { "$storage:backup/" . substr $_, 1 + length $folder } sort grep { !/\.(?:dat|notes|log|protected)$/ } glob $pattern;
}

# The file of a volume, or of a path.
sub archive_path {
  my ($archive) = @_;
  my ($storage, $name) = $archive =~ m{^([a-z]+):backup/(.+)$} or return $archive;
  return backup_folder($storage) . "/$name";
}

sub remove_archive {
  my ($archive) = @_;
  my $file = archive_path($archive);
  fail("cannot remove protected volume '" . ($archive =~ s/^[^:]*://r) . "' on '" . ($archive =~ s/:.*//r) . "'\n") if -e "$file.protected";
  if (!-e $file && $archive =~ m{:backup/ct/}) { fail("Error: snapshot does not exist\n"); }
  print STDERR "disk image '$file' does not exist\n" if !-e $file;
  unlink $file, "$file.notes", $file =~ s/\.tar.*/.log/r;
}

# restore(ID, ARCHIVE, { storage, rootfs, force }): the lock of the container must be held. Its volumes and snapshots are
# destroyed before anything is read from the archive, and a failure after that destroys the container itself.
sub restore {
  my ($id, $archive, $options, $usage) = @_;
  my $storage = $options->{storage} // 'local';
  fail("unable to restore CT $id - CT $id already exists on node 'pve'\n")
    if !$options->{force} && -e "$Rig::Configuration::CONFIGS/$id.conf";
  fail("can't overwrite running container\n") if is_running($id);
  fail("400 Parameter verification failed.\nstorage: storage '$storage' does not support container directories\n$usage\n")
    if !$options->{rootfs} && !(storages()->{$storage} // {})->{content}{rootdir};
  my $file = archive_path($archive);
  fail("volume '$archive' does not exist\n") if !-e $file;
  # A restoration that failed has destroyed the container.
  my $is_new = !-e "$Rig::Configuration::CONFIGS/$id.conf";
  my $config = $is_new ? { rootfs => "$storage:vm-$id-disk-0" } : current($id);
  refuse_locked($config);

  note('restore', $id, $archive);
  print "recovering backed-up configuration from '$archive'\n";
  my ($root) = volumes($config);
  my ($contents, $volume) = ("$Rig::Volumes::CONTENTS/$id", lvm_name($root));
  if (is_on($root, 'lvmthin')) {
    print qq{  Logical volume "$volume" successfully removed.\n  Logical volume "$volume" created.\n};
    print "Creating filesystem with 1048576 4k blocks and 262144 inodes\n";
  }
  system('rm', '-rf', $contents);
  system('mkdir', '-p', $contents);
  print "restoring '$archive' now..\nextracting archive '$file'\n";
  delayed('restore-delay');
  my $failed = sub { unlink "$Rig::Configuration::CONFIGS/$id.conf"; fail("unable to restore CT $id - $_[0]\n"); };
  $failed->("command 'tar xpf -' failed: exit code 2") if fault($id, 'restore-fail');
  my @tar = ('tar', '-xpf', $file, '--numeric-owner', '--xattrs', '--xattrs-include=*', '--totals', '-C', $contents);
  system('sh', '-c', '"$@" 2>&1', 'sh', @tar) == 0 or $failed->('extracting failed');
  print "merging backed-up and given configuration..\n";
  my $kept = read_lines("$contents/pct.conf");
  unlink "$contents/pct.conf";
  write_lines("$Rig::Configuration::CONFIGS/$id.conf", split /\n/, $kept);
}

1;
