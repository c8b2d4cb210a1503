package Rig::Backups;

# Archives of containers: where storages keep them, and `pct restore`. vzdump makes them: a tar of the container's layer
# and volumes, in place of one of its whole root.
use strict;
use warnings;
use Exporter 'import';
use Rig::Configuration;
use Rig::Container;
use Rig::Volumes;

our @EXPORT = qw(backup_folder restore);

my %FOLDERS = (local => '/var/lib/vz/dump', nas => '/mnt/pve/nas/dump');

# The folder of a storage's backups, or undef where it has none.
sub backup_folder { my ($storage) = @_; return $FOLDERS{$storage}; }

# restore(ID, ARCHIVE, { storage, rootfs, force }): the lock of the container must be held. Its volumes and snapshots are
# destroyed before anything is read from the archive.
sub restore {
  my ($id, $archive, $options, $usage) = @_;
  my $storage = $options->{storage} // 'local';
  fail("unable to restore CT $id - CT $id already exists on node 'pve'\n") if !$options->{force};
  fail("can't overwrite running container\n") if is_running($id);
  fail("400 Parameter verification failed.\nstorage: storage '$storage' does not support container directories\n$usage\n")
    if backup_folder($storage) || !$options->{rootfs} && !storage_type($storage);
  my $file = $archive =~ m{^(local|nas):backup/([^/]+)$} ? backup_folder($1) . "/$2" : $archive;
  fail("volume '$archive' does not exist\n") if !-e $file;
  my $config = current($id);
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
  fail("unable to restore CT $id - command 'tar xpf -' failed: exit code 2\n") if fault($id, 'restore-fail');
  my @tar = ('tar', '-xpf', $file, '--numeric-owner', '--xattrs', '--xattrs-include=*', '--totals', '-C', $contents);
  system('sh', '-c', '"$@" 2>&1', 'sh', @tar) == 0 or fail("unable to restore CT $id - extracting failed\n");
  print "merging backed-up and given configuration..\n";
  my $kept = read_lines("$contents/pct.conf");
  unlink "$contents/pct.conf";
  write_lines("$Rig::Configuration::CONFIGS/$id.conf", split /\n/, $kept);
}

1;
