package Rig::Snapshots;

# Snapshots, with the texts and the order of PVE::AbstractConfig: copies of a container's volumes, made while it is
# frozen, and a section of its configuration. A call that is killed leaves what the real one leaves.
use strict;
use warnings;
use Exporter 'import';
use POSIX qw(strftime);
use Rig::Configuration;
use Rig::Container;
use Rig::Volumes;

our @EXPORT = qw(take_snapshot remove_snapshot roll_back snapshot_tree);

my $DELAY = 'snapshot-delay';    # of `rig.sh snapshot-delay`

sub take_snapshot {
  my ($id, $name, $description) = @_;
  my @layers;
  changing($id, sub {
    my ($current, $snapshots) = @_;
    fail("you can't take a snapshot if it's a template\n") if $current->{template};
    refuse_locked($current);
    fail("snapshot name '$name' already used\n") if $snapshots->{$name};
    fail("snapshot feature is not available\n") if !can_snapshot($current, $name eq 'vzdump');
    my %kept = %$current;
    delete @kept{qw(description)};
    $kept{description} = $description if ($description // '') ne '';
    $snapshots->{$name} = { %kept, snapstate => 'prepare', snaptime => time };
    $current->{lock} = 'snapshot';
    @layers = layers($current);
  });

  my $is_frozen = freeze($id);
  delayed($DELAY);
  my $failure = refused_copy($id, $name, $layers[0]) || copy_of($id, $name, @layers);
  unfreeze($id) if $is_frozen;
  if ($failure) {
    print "snapshot create failed: starting cleanup\n";
    system('rm', '-rf', "$Rig::Volumes::CONTENTS/$id/snapshots/$name");
  }
  changing($id, sub {
    my ($current, $snapshots) = @_;
    delete $current->{lock};
    if ($failure) { delete $snapshots->{$name}; return; }
    delete $snapshots->{$name}{snapstate};
    $current->{parent} = $name;
  });
  fail("$failure\n") if $failure;
}

# What the storage says instead of making a snapshot, where the container has such a fault.
sub refused_copy {
  my ($id, $name, $root) = @_;
  my $volume = lvm_name($root);
  if (fault($id, 'thin-full')) {
    return "zfs error: cannot create snapshot 'rpool/data/$volume\@$name': out of space" if is_on($root, 'zfspool');
    return "lvcreate snapshot 'pve/snap_${volume}_$name' error:   Cannot create new thin volume, free space in thin pool"
      . ' pve/data reached threshold.';
  }
  my $text = fault($id, 'snapshot-fail') or return;
  return $text if $text ne '1';
  return "lvcreate snapshot 'pve/snap_${volume}_$name' error:   device-mapper: message ioctl on  (254:4) failed: File exists";
}

sub copy_of {
  my ($id, $name, @layers) = @_;
  my $contents = "$Rig::Volumes::CONTENTS/$id";
  system('mkdir', '-p', "$contents/snapshots/$name");
  for my $volume (@layers) {
    my $folder = folder($volume);
    copied("$contents/$folder", "$contents/snapshots/$name/$folder") or return "command '/sbin/lvcreate' failed: exit code 5";
    print '  Logical volume "snap_' . lvm_name($volume) . qq{_$name" created.\n} if is_on($volume, 'lvmthin');
  }
  return;
}

# With force, the snapshot is removed even where its storage refuses that. Without, the lock of a failure stays.
sub remove_snapshot {
  my ($id, $name, $force) = @_;
  my @layers;
  changing($id, sub {
    my ($current, $snapshots) = @_;
    my $snapshot = $snapshots->{$name} or fail("snapshot '$name' does not exist\n");
    refuse_locked($current);
    $current->{lock} = 'snapshot-delete';
    $snapshot->{snapstate} = 'delete';
    @layers = layers($snapshot);
  });

  delayed($DELAY);
  my $folder = "$Rig::Volumes::CONTENTS/$id/snapshots/$name";
  my $text = fault($id, 'delsnapshot-fail');
  if ($text || !-d $folder) {
    my $volume = 'pve/snap_' . lvm_name($layers[0]) . "_$name";
    # A snapshot that was cut off early has no volumes.
    $text ||= "lvremove snapshot '$volume' error:   Failed to find logical volume \"$volume\"";
    $text = "lvremove snapshot '$volume' error:   Logical volume $volume is used by another device." if $text eq '1';
    fail("$text\n") if !$force;
    print "$text\n";
  }
  for (grep { is_on($_, 'lvmthin') } @layers) {
    print '  Logical volume "snap_' . lvm_name($_) . qq{_$name" successfully removed.\n};
  }
  system('rm', '-rf', $folder);
  changing($id, sub {
    my ($current, $snapshots) = @_;
    my $parent = delete($snapshots->{$name})->{parent};
    for (grep { ($_->{parent} // '') eq $name } $current, values %$snapshots) {
      $_->{parent} = $parent;
      delete $_->{parent} if !$parent;
    }
    delete $current->{lock};
  });
}

# A failure leaves the container stopped, with the lock `rollback`.
sub roll_back {
  my ($id, $name) = @_;
  my @layers;
  changing($id, sub {
    my ($current, $snapshots) = @_;
    fail("you can't rollback if vm is a template\n") if $current->{template};
    my $snapshot = $snapshots->{$name} or fail("snapshot '$name' does not exist\n");
    @layers = layers($snapshot);
    fail("can't rollback, '$name' is not most recent snapshot on '$layers[0]{source}'\n")
      if fault($id, 'not-recent') || is_on($layers[0], 'zfspool') && grep { follows($snapshots, $_, $name) } keys %$snapshots;
    fail("unable to rollback to incomplete snapshot (snapstate = $snapshot->{snapstate})\n") if $snapshot->{snapstate};
    refuse_locked($current);
    end($id, '--kill') if is_running($id);
    $current->{lock} = 'rollback';
  });

  delayed($DELAY);
  if (my $text = fault($id, 'rollback-fail')) {
    my $volume = 'pve/' . lvm_name($layers[0]);
    fail($text eq '1' ? "lvremove '$volume' error:   Logical volume $volume in use.\n" : "$text\n");
  }
  my $contents = "$Rig::Volumes::CONTENTS/$id";
  for my $volume (@layers) {
    my ($folder, $is_thin, $lvm) = (folder($volume), is_on($volume, 'lvmthin'), lvm_name($volume));
    print qq{  Logical volume "$lvm" successfully removed.\n} if $is_thin;
    copied("$contents/snapshots/$name/$folder", "$contents/$folder") or fail("lvm rollback '$lvm' error: copy failed\n");
    print qq{  Logical volume "$lvm" created.\n} if $is_thin;
  }
  system('rm', '-rf', "$contents/work");
  changing($id, sub {
    my ($current, $snapshots) = @_;
    my $description = $current->{description};
    %$current = (%{ $snapshots->{$name} }, parent => $name);
    delete @$current{qw(snapstate snaptime description)};
    $current->{description} = $description if defined $description;
  });
}

# Whether one snapshot is newer than another.
sub follows {
  my ($snapshots, $one, $other) = @_;
  return 0 if $one eq $other;
  return $snapshots->{$one}{snaptime} > $snapshots->{$other}{snaptime} || ($snapshots->{$one}{parent} // '') eq $other;
}

# As PVE::GuestHelpers::print_snapshot_tree.
sub snapshot_tree {
  my ($id) = @_;
  my $all = load($id);
  my %nodes = %{ $all->{snapshots} };
  $nodes{current} = { description => 'You are here!', parent => $all->{current}{parent} };
  my (%children, @roots);
  for my $name (sort keys %nodes) {
    my $parent = $nodes{$name}{parent};
    if ($parent && $nodes{$parent}) { push @{ $children{$parent} }, $name; }
    else { push @roots, $name; }
  }
  my $by_age = sub { ($nodes{$a}{snaptime} // 9e15) <=> ($nodes{$b}{snaptime} // 9e15) };
  my $shown;
  $shown = sub {
    my ($indent, $name) = @_;
    my $time = $nodes{$name}{snaptime};
    my ($description) = ($nodes{$name}{description} || 'no-description') =~ /(.*)$/m;
    printf "%s %-*s %-23s %s\n", $indent, 30 - length $indent, $name,
      defined $time ? strftime('%F %H:%M:%S', localtime $time) : '', $description;
    $shown->(" $indent", $_) for sort $by_age @{ $children{$name} // [] };
  };
  $shown->('`->', $_) for sort $by_age @roots;
}

1;
