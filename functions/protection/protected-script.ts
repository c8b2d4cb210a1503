import { API_STEPS } from './api-steps.ts'
import { BACKUP_STEPS } from './backup-steps.ts'
import { HEALTH } from './health-script.ts'
import { PROTECTION_STEPS } from './protection-steps.ts'
import { FORGET, ROOM, STATE, UNLOCK } from './step-scripts.ts'

/*
 * The protected upgrade of a container, and the two changes that a person may make afterwards. All of it runs in the
 * detached job on the host, so it reaches its end whatever becomes of the service.
 */

/** The exit code of a run whose snapshot could not be made, or whose task is impossible: EX_UNAVAILABLE. */
export const REFUSED = 69

/**
 * The exit codes with which the update of an application says that it has run nothing: what it would run is not what was
 * agreed to, it could not begin, or nobody agrees to it any more. There is nothing to go back from, unless something is worse.
 */
export const RAN_NOTHING = [76, 79, 80] as const

/** Seconds between two looks at what has become worse; less after a shorter pause. */
const AGAIN_SECONDS = 10

/** The line that ends a text within a program. */
const END = 'OPS_PANEL_TEXT'

/** The scripts that the host runs where it has no host helper, which has its own. */
const TEXTS = [
  perlText('health_text', HEALTH),
  perlText('room_text', ROOM),
  perlText('state_text', STATE),
  perlText('unlock_text', UNLOCK),
  perlText('forget_text', FORGET),
].join('')

/**
 * Returns the Perl statement that sets a variable to a text, as it is. Throws a RangeError for a text that does not end
 * with a line end, for one with the line that would end it early, and for one with a carriage return, which Perl may
 * leave out.
 */
export function perlText(variable: string, text: string): string {
  if (!text.endsWith('\n') || text.includes('\r') || `\n${text}`.includes(`\n${END}\n`))
    throw new RangeError(`this text cannot be the variable ${variable}`)
  return `my $${variable} = <<'${END}';\n${text}${END}\n`
}

/**
 * `PROTECTED <task> <access> <id> <name> <policy> <look> <command>…`, in Perl. `<policy>` and `<look>` are lists, with their
 * lengths before them; `<look>` has the words of `probeWords`. `<access>` is `root`; `rule`, where sudo comes before each
 * program; `api`, which is `rule` and a service that can do the steps on snapshots itself (`API_STEPS`); or `helper`, where
 * the host helper has a verb for each step. The tasks:
 *
 * - `upgrade … <before> <storage> <keep> <on failure> <settle> <asks>`: makes the snapshot `<name>` or a backup, looks at the
 *   container, runs the command, looks again, compares, and rolls back where the policy says so. `<asks>` is 1 where the
 *   service adds to each look what its HTTP probes say. Exits with the code of the command, or with `REFUSED`.
 * - `application …`, with the same policy: the command updates an application, which need not be a package.
 * - `rollback … <kind> <location>`: goes back to the snapshot, or restores the backup at `<location>`.
 * - `forget … <kind> <location>`: removes the snapshot or backup.
 *
 * Descriptor 9 gets notes, one JSON object in a line (`run-notes.ts` reads them). TERM ends the program after the step that
 * is at work.
 */
export const PROTECTED = String.raw`${TEXTS}${PROTECTION_STEPS}${BACKUP_STEPS}${API_STEPS}
sub refuse {
  my ($why, $reason) = @_;
  note(refused => $why, reason => $reason);
  report($reason);
  exit ${REFUSED};
}

# The state of the container: status, lock, and whether the snapshot of this job is whole.
sub state {
  my ($code, $text) = host({ seconds => 60 }, 'state', ['sh', '-c', $state_text, 'ops-panel-state', join(' ', allowed()), $id, $name], $name);
  my %state = map { /^(status|lock|snapshot|busy|frozen) ([a-z0-9-]+)$/ ? ($1, $2) : () } split /\n/, $text;
  return \%state;
}
# Takes a lock away that a step on a snapshot has left. A person has asked for the next step.
sub unlock {
  my ($state) = @_;
  my ($lock, $busy) = ($state->{lock}, $state->{busy});
  refuse('locked', "the container is locked ($lock)") if $lock !~ /^(?:snapshot|snapshot-delete|rollback)$/;
  refuse('locked', "the container is locked ($lock), and the processes of the host cannot be seen") if ($busy // '') eq 'unknown';
  refuse('locked', "the container is locked ($lock), and process $busy works on it") if defined $busy;
  report("the lock ($lock) is left from a step that has ended; it is removed");
  my ($code, $text) = host({ seconds => 60, shown => 1 }, 'unlock', ['sh', '-c', $unlock_text, 'ops-panel-unlock', join(' ', allowed()), $id]);
  refuse('locked', last_line($text)) if $code != 0;
  # A rule of sudo for pct alone thaws nothing.
  report("the container is still frozen: stop it and start it again, or run lxc-freeze -n $id, then lxc-unfreeze -n $id on the host") if $state->{frozen} && state()->{frozen};
}

if ($task eq 'forget') {
  my ($kind, $location) = @$policy;
  phase('pruning');
  if ($kind eq 'backup') {
    my $lock = state()->{lock};
    refuse('locked', "the container is locked ($lock)") if ($lock // '') eq 'backup';
    my ($code, $reason) = remove_archive($location);
    refuse('failed', $reason) if $code != 0;
  } else {
    my $state = state();
    if (($state->{snapshot} // '') ne 'none') {
      unlock($state) if $state->{lock};
      my ($code, $text) = forget($name);
      if ($code != 0) { note(kept => [[$name, last_line($text)]]); refuse('failed', last_line($text)) }
    }
  }
  note(pruned => [$name]);
  phase('done');
  exit 0;
}

if ($task eq 'rollback') {
  my ($kind, $location, @rest) = @$policy;
  my $state = state();
  refuse('missing', "the snapshot $name is not there, or not whole") if $kind ne 'backup' && ($state->{snapshot} // '') ne 'whole';
  unlock($state) if $state->{lock};
  my $back = $kind eq 'backup' ? restore($location, $state->{status} // '', @rest) : go_back();
  phase('done') if $back;
  finish($back ? 'rolled_back' : 'rollback_failed', $back ? 0 : 1);
}

my ($before, $storage, $keep, $on_failure, $settle, $asks, @former) = @$policy;
my ($made, $location) = ('', '');
sub snapshot {
  my $lack = lack_of_room();
  refuse('full', "no room for a snapshot: $lack") if $lack ne '';
  my ($code, $text) = host({ whole => 1 }, 'snapshot', [pct('snapshot', $name, '--description', 'ops-panel: before an upgrade')], $name);
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
  become(@_) if $pid == 0;
  # A signal interrupts the call.
  until (waitpid($pid, 0) == $pid) { return 71 if $! != 4 }
  return code_of($?);
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
if ($before eq 'backup') { $location = make_backup($storage) // ''; $made = 'backup' if $location ne '' } else { snapshot() }
finish('cancelled', 143) if stopped();
phase('measuring');
my $healthy = look('before');
if (!$healthy && !$cancelled) { nap(5); $healthy = look('before') }
finish('cancelled', 143) if stopped();
if (!$healthy) {
  if ($made eq 'snapshot') { my ($kept) = forget($name); note(pruned => [$name]) if $kept == 0 }
  prune_backups($location) if $made eq 'backup';
  refuse('unmeasured', 'the container cannot be looked at, so nothing could be compared');
}
phase('upgrading');
my $code = upgrade(@$command);
note(upgraded => number($code));
finish('cancelled', $code) if stopped();
# An application may change without any package.
my $is_application = $task eq 'application';
my $ran_nothing = $is_application && grep { $code == $_ } (${RAN_NOTHING.join(', ')});
my $was = $is_application ? undef : packages($healthy);
my $now = $ran_nothing || defined $was ? look('upgraded') : undef;
if ($now && ($ran_nothing || $was eq (packages($now) // '')) && !@{ worse($healthy, $now) }) {
  # Nothing has changed, so there is nothing to go back from.
  if ($made eq 'backup') { phase('pruning'); prune_backups($location) }
  if ($made eq 'snapshot') { phase('pruning'); my ($gone, $text) = forget($name); note(pruned => $gone ? [] : [$name], kept => $gone ? [[$name, last_line($text)]] : []) }
  phase('done');
  finish($code == 0 ? 'nothing_to_do' : 'failed', $code);
}
phase('settling');
nap($settle);
finish('cancelled', $code) if stopped();
phase('comparing');
my ($worse, $unsteady) = compare($healthy);
finish('cancelled', $code) if stopped();
note(compared => $worse, unsteady => $unsteady);
my $outcome = $code != 0 ? 'failed' : @$worse ? 'regressed' : 'upgraded';
if ($outcome ne 'upgraded' && $on_failure eq 'rollback' && $made eq 'snapshot') {
  $outcome = go_back($healthy) ? 'rolled_back' : 'rollback_failed';
  finish($outcome, $code) if $interrupted;
}
if ($made eq 'snapshot' && $outcome ne 'rollback_failed' && !$cancelled) { phase('pruning'); prune($keep) }
if ($made eq 'backup' && $outcome eq 'upgraded' && !$cancelled && @former) { phase('pruning'); prune_backups(@former) }
phase('done');
finish($outcome, $code);
`
