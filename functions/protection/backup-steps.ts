/**
 * The Perl functions of `PROTECTED` for backups: vzdump makes an archive, `pct restore` makes the container anew from it,
 * and `pvesm free` or rm removes it. They follow the functions of `PROTECTION_STEPS`.
 *
 * The location of an archive is its volume, such as `nas:backup/vzdump-lxc-101-2026_03_01-09_30_00.tar.zst` or
 * `vault:backup/ct/101/2026-03-01T09:30:00Z` on a Proxmox Backup Server; without a known storage, it is the path of its file.
 */
export const BACKUP_STEPS = String.raw`
my $file_name = qr/vzdump-lxc-\Q$id\E-[0-9]{4}_[0-9]{2}_[0-9]{2}-[0-9]{2}_[0-9]{2}_[0-9]{2}\.tar(?:\.[a-z0-9]{1,5})?/;
my ($vzdump, $pvesm) = ('/usr/bin/vzdump', '/usr/sbin/pvesm');

# Whether the location is that of an archive of this container.
sub is_archive {
  my ($location) = @_;
  return 0 if $location =~ m{/\.\.?/|[\x00-\x1f]};
  return $location =~ m{\A/(?:.*/)?$file_name\z} || $location =~ m{\A[A-Za-z][A-Za-z0-9._-]*:backup/(?:$file_name|ct/\Q$id\E/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z)\z};
}
# The name of an archive in the records.
sub name_of { return $_[0] =~ s{.*/(?=vzdump)}{}r }
# Whether this account may run a program as root.
sub may_run {
  return $access eq 'root' if $access ne 'rule';
  my ($code) = run({ seconds => 30, most => 4096 }, 'sudo', '-n', '-l', @_);
  return $code == 0;
}
sub lacking { my $user = getpwuid($<) // 'the account'; return "the sudo rule lacks a program: $user ALL=(root) NOPASSWD: $_[0]" }
# The reason of a failure, in the words of vzdump or of another tool.
sub reason_of { my ($text, $code) = @_; return last_line($text =~ /^ERROR: (.+)$/m ? $1 : $text) || "exit code $code" }

# Makes a backup on the storage, or where vzdump would make one, and returns its location. Nothing is returned when the
# job is cancelled meanwhile. The archive is noted when it is begun: it has its name only when it is whole.
sub make_backup {
  my ($storage) = @_;
  refuse('rights', 'the host helper makes no backups') if $access eq 'helper';
  refuse('rights', lacking($vzdump)) if !may_run($vzdump, $id);
  my (undef, $config) = run({ seconds => 60, most => 65536 }, pct('config'));
  my ($root) = $config =~ /^rootfs: (?:volume=)?([A-Za-z][A-Za-z0-9._-]*):/m;
  my ($location, %volumes) = ('');
  my $each = sub {
    my ($line) = @_;
    $volumes{$1} = 1 if $line =~ /^INFO: including mount point (rootfs|mp[0-9]{1,3}) \(/;
    my ($file) = $line =~ m{^INFO: creating vzdump archive '(/[^']+)'\s*$};
    my ($stored) = $line =~ m{^INFO: creating Proxmox Backup Server archive '(ct/[^']+)'\s*$};
    my $found = $storage ne '-' && ($stored // $file) ? "$storage:backup/" . ($stored // $file =~ s{.*/}{}r) : $file;
    return if !defined $found || !is_archive($found) || $location ne '';
    $location = $found;
    note(archive => $location, file => $file, root => $root, unprivileged => number($config =~ /^unprivileged: 1$/m ? 1 : 0), volumes => [sort keys %volumes], at => number(time));
  };
  # Without keep-all, vzdump would remove older backups by the rules of the storage, or refuse to make one more.
  my @words = ('--mode', 'snapshot', '--compress', 'zstd', '--stdexcludes', 0, '--prune-backups', 'keep-all=1');
  push @words, '--storage', $storage if $storage ne '-';
  my @notes = $storage eq '-' ? () : ('--notes-template', "ops-panel: before an upgrade ($name)");
  my ($code, $text) = follow($each, allowed($vzdump, $id, @words, @notes));
  # Proxmox VE before 7.2 has no notes.
  ($code, $text) = follow($each, allowed($vzdump, $id, @words)) if $code != 0 && $text =~ /^Unknown option: notes-template$/m;
  return if $code != 0 && $cancelled;
  my $reason = reason_of($text, $code);
  refuse($reason =~ /is locked/ ? 'locked' : 'failed', $reason) if $code != 0;
  refuse('failed', 'vzdump names no archive') if $location eq '';
  note(snapshot => name_of($location), kind => 'backup', location => $location, at => number(time));
  return $location;
}

# Whether a storage has the archive: 1, 0, or nothing where that cannot be read.
sub has_archive {
  my ($location) = @_;
  if ($location =~ m{^/}) { return -e $location ? 1 : -x $location =~ s{/[^/]*\z}{}r ? 0 : undef }
  return if !may_run($pvesm, 'list');
  my ($code, $text) = run({ seconds => 300, most => 1048576 }, allowed($pvesm, 'list', $location =~ s/:.*//r, '--content', 'backup', '--vmid', $id));
  return $code == 0 ? scalar(grep { /^\Q$location\E\s/ } split /\n/, $text) : undef;
}

# Removes an archive. Returns the exit code and the reason; one that is not there any more is no failure.
sub remove_archive {
  my ($location) = @_;
  return (1, "this is no archive of the container: $location") if !is_archive($location);
  my ($code, $text);
  if ($location =~ m{^/}) {
    return (1, 'this account may not remove files of root') if $access ne 'root';
    return (1, "the archive is protected: $location.protected") if -e "$location.protected";
    ($code, $text) = run({ seconds => 600, most => 65536, shown => 1 }, 'rm', '-f', '--', $location, "$location.notes", $location =~ s/\.tar[^\/]*\z/.log/r);
  } else {
    return (1, lacking($pvesm)) if !may_run($pvesm, 'free', $location);
    ($code, $text) = run({ seconds => 600, most => 65536, shown => 1 }, allowed($pvesm, 'free', $location));
    $code = 0 if $code != 0 && (has_archive($location) // 1) == 0;
  }
  return ($code, $code == 0 ? '' : reason_of($text, $code));
}
# Removes archives, and notes which.
sub prune_backups {
  my (@gone, @kept);
  for my $location (@_) {
    last if $cancelled;
    my ($code, $reason) = remove_archive($location);
    if ($code == 0) { push @gone, name_of($location) } else { push @kept, [name_of($location), $reason] }
  }
  note(pruned => \@gone, kept => \@kept) if @gone || @kept;
}

# Makes the container anew from its backup, and starts it. The agreed volumes are not in the backup, or are in it; any other
# one that the container has now would be destroyed although nobody has read so. Returns whether the container is back.
sub restore {
  my ($location, $status, $root, $unprivileged, @agreed) = @_;
  refuse('rights', 'the host helper restores no backups') if $access eq 'helper';
  refuse('missing', "this is no archive of the container: $location") if !is_archive($location);
  my $configured = sub { return run({ seconds => 60, most => 65536 }, pct('config')) };
  my ($missing, $config) = $configured->();
  # A restoration that fails destroys the container; the next one needs what the run has noted.
  $config = $root eq '-' ? '' : "rootfs: $root:\nunprivileged: $unprivileged\n" if $missing;
  my %agreed = map { $_ => 1 } @agreed;
  my ($lost) = grep { !$agreed{$_} } $config =~ m{^((?:mp|unused)[0-9]+): (?!(?:volume=)?/)}mg;
  refuse('changed', "the volume $lost is not in the backup, and nobody has agreed to its loss") if defined $lost;
  my ($storage) = $config =~ /^rootfs: (?:volume=)?([A-Za-z][A-Za-z0-9._-]*):/m or refuse('failed', 'the storage of the container cannot be read');
  refuse('missing', "the backup is not there any more: $location") if (has_archive($location) // 1) == 0;
  phase('rolling_back');
  my $began = uptime();
  my $failed = sub { note(rollback => 'failed', reason => reason_of(@_)); return 0 };
  my ($code, $text) = $status eq 'running' ? run({ seconds => 300, most => 65536, shown => 1 }, pct('stop')) : (0, '');
  return $failed->($text, $code) if $code != 0;
  my @words = ('--storage', $storage, $missing ? () : ('--force', 1), $config =~ /^unprivileged: 1$/m ? ('--unprivileged', 1) : ());
  ($code, $text) = follow(undef, pct('restore', $location, @words));
  if ($code != 0) {
    my ($is_gone, $now) = $configured->();
    if ($is_gone) { report("the container is destroyed, and the backup is not restored; the backup is still there: $location") }
    # It was not touched: what a restoration has begun has a lock, or another configuration.
    elsif ($status eq 'running' && $now eq $config) { report('the container is as it was'); run({ seconds => 300, most => 65536, shown => 1 }, pct('start')) }
    return $failed->($text, $code);
  }
  ($code, $text) = run({ seconds => 300, most => 65536, shown => 1 }, pct('start'));
  return $failed->($text, $code) if $code != 0;
  return is_back($began);
}
`
