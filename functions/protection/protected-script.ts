import { PROTECTION_STEPS } from './protection-steps.ts'

/*
 * The protected upgrade of a container, and the two changes that a person may make afterwards. All of it runs in the
 * detached job on the host, so it reaches its end whatever becomes of the service.
 */

/** The exit code of a run whose snapshot could not be made, or whose task is impossible: EX_UNAVAILABLE. */
export const REFUSED = 69

/** Seconds that a backup or its restoration may take. */
const BACKUP_SECONDS = 86_400
/** Seconds between two looks at what has become worse; less after a shorter pause. */
const AGAIN_SECONDS = 10

/**
 * `PROTECTED <task> <access> <id> <name> <policy> <look> <command>…`, in Perl. `<policy>` and `<look>` are lists, with their
 * lengths before them; `<look>` begins with the texts of `HEALTH`, `ROOM` and `STATE`. `<access>` is `root`;
 * `rule`, where sudo comes before each program; or `helper`, where the host helper has a verb for each step. The tasks:
 *
 * - `upgrade … <before> <storage> <keep> <on failure> <settle> <asks>`: makes the snapshot `<name>` or a backup, looks at the
 *   container, runs the command, looks again, compares, and rolls back where the policy says so. `<asks>` is 1 where the
 *   service adds to each look what its HTTP probes say. Exits with the code of the command, or with `REFUSED`.
 * - `rollback … <kind> <location>`: goes back to the snapshot, or restores the backup at `<location>`.
 * - `forget … <kind> <location>`: removes the snapshot or backup.
 *
 * Descriptor 9 gets notes, one JSON object in a line (`run-notes.ts` reads them). TERM ends the program after the step that
 * is at work.
 */
export const PROTECTED = String.raw`${PROTECTION_STEPS}
sub refuse {
  my ($why, $reason) = @_;
  note(refused => $why, reason => $reason);
  report($reason);
  exit ${REFUSED};
}

# The state of the container: status, lock, and whether the snapshot of this job is whole.
sub state {
  my ($code, $text) = host({ seconds => 60 }, 'state', ['sh', '-c', $state_text, 'ops-panel-state', join(' ', allowed()), $id, $name], $name);
  my %state = map { /^(status|lock|snapshot) ([a-z-]+)$/ ? ($1, $2) : () } split /\n/, $text;
  return \%state;
}
# A step of the hypervisor on this container that another program has begun.
sub busy {
  opendir my $proc, '/proc' or return 'the processes of the host cannot be seen';
  my $sees = 0;
  for my $pid (grep { /^\d+$/ } readdir $proc) {
    open my $status, '<', "/proc/$pid/status" or next;
    read $status, my $text, 8192;
    # A process of root in the host's own namespace; one in a container could call itself anything.
    next if $text !~ /^Uid:\t0\t/m || $text !~ /^NSpid:\t\d+$/m;
    open my $file, '<', "/proc/$pid/cmdline" or next;
    read $file, my $line, 4096;
    $sees = 1 if $pid == 1 && length $line;
    return "process $pid works on the container" if $line =~ m{/pct\x00(?:snapshot|delsnapshot|rollback|restore)\x00\Q$id\E\x00} || $line =~ m{:vz(?:snapshot|delsnapshot|rollback|restore):\Q$id\E:};
  }
  return $sees ? '' : 'the processes of the host cannot be seen';
}
# Takes a lock away that a step on a snapshot has left. A person has asked for the next step.
sub unlock {
  my ($lock) = @_;
  refuse('locked', "the container is locked ($lock)") if $lock !~ /^(?:snapshot|snapshot-delete|rollback)$/;
  my $busy = busy();
  refuse('locked', "the container is locked ($lock), and $busy") if $busy ne '';
  report("the lock ($lock) is left from a step that has ended; it is removed");
  my ($code, $text) = host({ seconds => 60, shown => 1 }, 'unlock', [pct('unlock')]);
  refuse('locked', last_line($text)) if $code != 0;
}

if ($task eq 'forget') {
  my ($kind, $location) = @$policy;
  phase('pruning');
  if ($kind eq 'backup') {
    refuse('rights', 'this account may not remove backups') if $access ne 'root';
    my ($code, $text) = $location =~ m{^/} ? run({ seconds => 600, most => 65536, shown => 1 }, 'rm', '-f', '--', $location)
      : run({ seconds => 600, most => 65536, shown => 1 }, 'pvesm', 'free', $location);
    refuse('failed', last_line($text)) if $code != 0;
  } else {
    my $state = state();
    if (($state->{snapshot} // '') ne 'none') {
      unlock($state->{lock}) if $state->{lock};
      my ($code, $text) = forget($name);
      if ($code != 0) { note(kept => [[$name, last_line($text)]]); refuse('failed', last_line($text)) }
    }
  }
  note(pruned => [$name]);
  phase('done');
  exit 0;
}

if ($task eq 'rollback') {
  my ($kind, $location) = @$policy;
  my $state = state();
  refuse('missing', "the snapshot $name is not there, or not whole") if $kind ne 'backup' && ($state->{snapshot} // '') ne 'whole';
  unlock($state->{lock}) if $state->{lock};
  my $back = $kind eq 'backup' ? restore($location, $state->{status} // '') : go_back();
  phase('done') if $back;
  finish($back ? 'rolled_back' : 'rollback_failed', $back ? 0 : 1);
}

sub restore {
  my ($location, $status) = @_;
  refuse('rights', 'the host helper restores no backups') if $access eq 'helper';
  phase('rolling_back');
  my $began = uptime();
  my ($config_code, $config) = run({ seconds => 60, most => 65536 }, pct('config'));
  my ($storage) = $config =~ /^rootfs: ([A-Za-z][A-Za-z0-9._-]*):/m or refuse('failed', 'the storage of the container cannot be read');
  my $failed = sub { my $reason = last_line($_[0]); note(rollback => 'failed', reason => $reason); return 0 };
  my ($code, $text) = $status eq 'running' ? run({ seconds => 300, most => 65536, shown => 1 }, pct('stop')) : (0, '');
  return $failed->($text) if $code != 0;
  ($code, $text) = run({ whole => 1, most => 65536, shown => 1 }, pct('restore', $location, '--storage', $storage, '--force', 1));
  return $failed->($text) if $code != 0;
  ($code, $text) = run({ seconds => 300, most => 65536, shown => 1 }, pct('start'));
  return $failed->($text) if $code != 0;
  return is_back($began);
}

my ($before, $storage, $keep, $on_failure, $settle) = @$policy;
my ($made, $location) = ('', '');
sub backup {
  refuse('rights', 'the host helper makes no backups') if $access eq 'helper';
  my @where = $storage eq '-' ? () : ('--storage', $storage);
  # Without --remove 0, vzdump removes older backups by the rules of the storage.
  my ($code, $text) = run({ seconds => ${BACKUP_SECONDS}, most => 262144, shown => 1, ends => 1 },
    allowed('/usr/bin/vzdump', $id, '--mode', 'snapshot', @where, '--compress', 'zstd', '--remove', 0));
  refuse('failed', last_line($text)) if $code != 0;
  my ($file) = $text =~ m{^INFO: creating vzdump archive '(/[^'\n]*/vzdump-lxc-\Q$id\E-[0-9_-]+\.tar(?:\.[a-z0-9]+)?)'\s*$}m;
  my ($stored) = $text =~ m{^INFO: creating Proxmox Backup Server archive '(ct/[^'\n]+)'\s*$}m;
  $location = $file // ($stored && $storage ne '-' ? "$storage:backup/$stored" : undef) // refuse('failed', 'vzdump names no archive');
  refuse('failed', 'vzdump names no archive') if $location =~ m{/\.\.?/};
  $name = $location =~ s{.*/(?=vzdump)}{}r;
  note(snapshot => $name, kind => 'backup', location => $location, at => number(time));
  $made = 'backup';
}
sub snapshot {
  my $lack = lack_of_room();
  refuse('full', "no room for a snapshot: $lack") if $lack ne '';
  my ($code, $text) = host({ whole => 1, shown => 1 }, 'snapshot', [pct('snapshot', $name, '--description', 'ops-panel: before an upgrade')], $name);
  if ($code == 0) { note(snapshot => $name, kind => 'snapshot', at => number(time)); $made = 'snapshot'; return }
  my $reason = last_line($text) || "exit code $code";
  # A failed one may have left something.
  note(snapshot => $name, kind => 'snapshot', at => number(time)) if (state()->{snapshot} // '') =~ /^(?:whole|incomplete)\z/;
  refuse($reason =~ /is locked/ ? 'locked' : 'failed', $reason) if $before ne 'auto' || $text !~ /snapshot feature is not available/;
  note(unprotected => $reason);
  report("no snapshot: $reason");
}
sub upgrade {
  my $pid = fork;
  return 71 if !defined $pid;
  if ($pid == 0) {
    $SIG{$_} = 'DEFAULT' for qw(TERM INT HUP PIPE);
    exec { $_[0] } @_;
    print STDERR "$_[0]: $!\n";
    POSIX::_exit(127);
  }
  # A signal interrupts the call.
  until (waitpid($pid, 0) == $pid) { return 71 if $! != 4 }
  return $? & 127 ? 128 + ($? & 127) : $? >> 8;
}
# What is worse in two looks, and what in one of them alone.
sub compare {
  my ($healthy) = @_;
  my $pause = $settle < ${AGAIN_SECONDS} ? $settle : ${AGAIN_SECONDS};
  my $after = look('after');
  if (!$after) { nap($pause); $after = look('after') }
  my $first = worse_than($healthy, $after);
  return ([], []) if !@$first;
  nap($pause);
  my $next = look('again');
  my $again = worse_than($healthy, $next);
  # A container that does not answer hides all the rest.
  return ([@$again, grep { $_->[0] ne 'container' } @$first], []) if !$next;
  if (!$after) { $first = $again; nap($pause); $again = worse_than($healthy, look('again')) }
  my %first = map { ("$_->[0]\t$_->[1]" => 1) } @$first;
  my %again = map { ("$_->[0]\t$_->[1]" => 1) } @$again;
  my @unsteady = ((grep { !$again{"$_->[0]\t$_->[1]"} } @$first), grep { !$first{"$_->[0]\t$_->[1]"} } @$again);
  return ([grep { $first{"$_->[0]\t$_->[1]"} } @$again], \@unsteady);
}

phase('protecting');
if ($before eq 'backup') { backup() } else { snapshot() }
finish('cancelled', 143) if $cancelled;
phase('measuring');
my $healthy = look('before');
if (!$healthy && !$cancelled) { nap(5); $healthy = look('before') }
finish('cancelled', 143) if $cancelled;
if (!$healthy) {
  if ($made eq 'snapshot') { my ($kept) = forget($name); note(pruned => [$name]) if $kept == 0 }
  refuse('unmeasured', 'the container cannot be looked at, so nothing could be compared');
}
phase('upgrading');
my $code = upgrade(@$command);
note(upgraded => number($code));
finish('cancelled', $code) if $cancelled;
my $was = packages($healthy);
my $now = defined $was ? look('upgraded') : undef;
if ($now && $was eq (packages($now) // '') && !@{ worse($healthy, $now) }) {
  # Nothing has changed, so there is nothing to go back from.
  if ($made eq 'backup' && $access eq 'root' && $location =~ m{^/} && unlink $location) { note(pruned => [$name]) }
  if ($made eq 'snapshot') { phase('pruning'); my ($gone, $text) = forget($name); note(pruned => $gone ? [] : [$name], kept => $gone ? [[$name, last_line($text)]] : []) }
  phase('done');
  finish($code == 0 ? 'nothing_to_do' : 'failed', $code);
}
phase('settling');
nap($settle);
finish('cancelled', $code) if $cancelled;
phase('comparing');
my ($worse, $unsteady) = compare($healthy);
finish('cancelled', $code) if $cancelled;
note(compared => $worse, unsteady => $unsteady);
my $outcome = $code != 0 ? 'failed' : @$worse ? 'regressed' : 'upgraded';
if ($outcome ne 'upgraded' && $on_failure eq 'rollback' && $made eq 'snapshot') {
  $outcome = go_back($healthy) ? 'rolled_back' : 'rollback_failed';
}
if ($made eq 'snapshot' && $outcome ne 'rollback_failed' && !$cancelled) { phase('pruning'); prune($keep) }
phase('done');
finish($outcome, $code);
`
