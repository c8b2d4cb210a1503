package Rig::Volumes;

# The volumes of a container: which storage has them, and the folders that hold their contents here.
use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(layers mount_points volumes can_snapshot storage_type is_on lvm_name folder copied);

# What has the contents of container ID: upper and work (the layer over the base), mpN (volumes of mount points), and
# snapshots/NAME with copies of them.
our $CONTENTS = '/var/lib/rig/containers';
my %TYPES = ('local-lvm' => 'lvmthin', 'local-zfs' => 'zfspool', 'local-btrfs' => 'btrfs', local => 'dir', nas => 'nfs');
my %SNAPSHOTS = map { $_ => 1 } qw(lvmthin zfspool btrfs);

# The mount points of a configuration: their key, source, and options such as mp and backup.
sub mount_points {
  my ($config) = @_;
  return map {
    my ($source, @options) = split /,/, $config->{$_};
    +{ key => $_, source => $source, is_bind => scalar $source =~ m{^/}, map { split /=/, $_, 2 } @options };
  } grep {/^mp\d+$/} sort keys %$config;
}

# The root and the mount points, as mount_points.
sub volumes {
  my ($config) = @_;
  my ($source) = split /,/, $config->{rootfs};
  return ({ key => 'rootfs', source => $source, is_bind => 0, mp => '/' }, mount_points($config));
}

# The volumes with contents here.
sub layers { return grep { !$_->{is_bind} } volumes($_[0]); }

sub storage_type { my ($storage) = @_; return $TYPES{$storage}; }
sub is_on { my ($volume, $type) = @_; return !$volume->{is_bind} && ($TYPES{ $volume->{source} =~ s/:.*//sr } // '') eq $type; }
sub lvm_name { my ($volume) = @_; return $volume->{source} =~ s/^[^:]*://r; }

# As PVE::LXC::Config::has_feature: every volume must be on a storage with snapshots; for a backup, every included one.
sub can_snapshot {
  my ($config, $is_backup) = @_;
  for my $volume (volumes($config)) {
    next if $is_backup && $volume->{key} ne 'rootfs' && ($volume->{is_bind} || !$volume->{backup});
    return 0 if $volume->{is_bind} || !$SNAPSHOTS{ $TYPES{ $volume->{source} =~ s/:.*//sr } // '' };
  }
  return 1;
}

sub folder { my ($volume) = @_; return $volume->{key} eq 'rootfs' ? 'upper' : $volume->{key}; }

# Copies a folder in place of another one, with devices and attributes, which a layer has for removed files.
sub copied {
  my ($from, $to) = @_;
  system('rm', '-rf', $to);
  system('mkdir', '-p', $from);
  return system('cp', '-a', $from, $to) == 0;
}

1;
