import { HOST_HELPER } from '../../ssh/ssh.ts'
import { CONTAINER_TOOL } from '../hypervisor/pct.ts'

/** A pool that is fuller than this (percent of its data or of its metadata) takes no snapshot. */
const FULLEST = 95
/** Seconds that a look at a container may take. A step on a snapshot has no limit: half-made, it is worse than late. */
const LOOK_SECONDS = 30
/** Seconds until a container that was rolled back and started must answer. */
const START_SECONDS = 120
/** Seconds until the service must have answered a question. */
const ANSWER_SECONDS = 40

/** Seconds between two requests to vzdump to stop. */
const STOP_SECONDS = 4
/** Requests to stop: at the fourth one, the tools of Proxmox VE kill their worker, which then cleans nothing up. */
const STOPS = 3

/**
 * The Perl functions of `PROTECTED`: its arguments, its notes, looks at the container, and the steps of the hypervisor.
 *
 * A step that changes a container or its snapshots runs in a session of its own: it reaches its end even if the program
 * is killed, because a half-made snapshot or rollback is worse than one too many. Its output is a file (`follow`).
 */
export const PROTECTION_STEPS = String.raw`
use strict;
use POSIX ();
my ($task, $access, $id, $name, @rest) = @ARGV;
my $policy = [splice @rest, 0, shift @rest];
my $words = [splice @rest, 0, shift @rest];
my $command = \@rest;
open my $notes, '>>&=', 9 or exit 74;
# FD_CLOEXEC: no command gets the notes.
fcntl $notes, 2, 1;
my $folder = readlink('/proc/self/fd/9') // '';
$folder =~ s{/[^/]*\z}{};
my $cancelled = 0;
$SIG{$_} = sub { $cancelled = 1 } for qw(TERM INT HUP);
# Without its runner the job has ended for everybody: the program begins nothing more.
my $runner = getppid;
if (open my $file, '<', "$folder/process") { ($runner) = split ' ', <$file> }
sub stopped { $cancelled = 1 if getppid != $runner; return $cancelled }
$SIG{ALRM} = sub { stopped(); alarm 1 };
alarm 1;
$SIG{PIPE} = 'IGNORE';
$| = 1;
my ($good, $bad) = ('good', 'bad');
# A rollback was made, and the job ended before the container answered.
my $interrupted = 0;
my %noted;

sub uptime { open my $file, '<', '/proc/uptime' or return time; return (split ' ', <$file>)[0] }
sub nap { my ($seconds) = @_; my $until = uptime() + $seconds; while (!$cancelled && uptime() < $until) { select undef, undef, undef, 0.1 } }
sub report { print "ops-panel: $_[0]\n" }

sub json {
  my ($value) = @_;
  return 'null' if !defined $value;
  return '[' . join(',', map { json($_) } @$value) . ']' if ref $value eq 'ARRAY';
  return $$value if ref $value;
  $value =~ s/(["\\])/\\$1/g;
  $value =~ s/([^\x20-\x7e])/sprintf '\u%04x', ord $1/ge;
  return qq("$value");
}
sub note { my @pairs; while (@_) { my ($key, $value) = splice @_, 0, 2; push @pairs, qq("$key":) . json($value) } syswrite $notes, '{' . join(',', @pairs) . "}\n" }
sub number { my $number = int $_[0]; return \$number }
sub phase { note(phase => $_[0], at => number(time)) }
sub finish { my ($outcome, $code) = @_; $outcome = 'cancelled' if $interrupted && $outcome eq 'rollback_failed'; note(outcome => $outcome, at => number(time)); exit $code }
sub last_line { my ($last) = grep { /\S/ } reverse split /\n/, $_[0]; $last = substr($last // '', 0, 500); $last =~ s/[^\x20-\x7e]/?/g; return $last }

# Keeps the beginning and the end of a long text.
sub keep { my ($most, $text, $bytes) = @_; $$text .= $bytes; substr($$text, $most / 2, length($$text) - $most) = '' if length $$text > $most }

# Becomes the command. The signals that this program catches end it as usual.
sub become {
  $SIG{$_} = 'DEFAULT' for qw(TERM INT HUP PIPE);
  exec { $_[0] } @_;
  print STDERR "$_[0]: $!\n";
  POSIX::_exit(127);
}
sub code_of { my ($status) = @_; return $status & 127 ? 128 + ($status & 127) : $status >> 8 }
# Starts a command in a session of its own, with a pipe as its input: root in a container could change the host's /dev/null.
# Returns its process and the other end of the pipe, which stays open as long as the caller keeps it; nothing after a failure.
sub spawn {
  my ($output, @command) = @_;
  pipe(my $nothing, my $never) or return;
  defined(my $pid = fork) or return;
  return ($pid, $never) if $pid;
  POSIX::setsid();
  open STDIN, '<&', $nothing and open STDOUT, '>&', $output and open STDERR, '>&', $output or POSIX::_exit(71);
  become(@command);
}
# Runs a command. Returns its exit code, or -1 after the time limit, and its last output. A look ends when the job is
# cancelled.
sub run {
  my ($how, @command) = @_;
  pipe(my $from, my $to) or return (71, "pipe: $!");
  my ($pid, $never) = spawn($to, @command) or return (71, "the command cannot be started: $!");
  close $to;
  my ($text, $code, $open, $until) = ('', undef, 1, uptime() + $how->{seconds});
  while ($open || !defined $code) {
    my $ready = '';
    vec($ready, fileno $from, 1) = 1 if $open;
    if (select($ready, undef, undef, 0.02) > 0) {
      my $count = sysread $from, my $bytes, 65536;
      if ($count) { print $bytes if $how->{shown}; keep($how->{most}, \$text, $bytes) }
      elsif (defined $count) { $open = 0 }
    }
    # A process that the command leaves behind may hold the pipe for ever.
    elsif (defined $code) { last }
    if (!defined $code && waitpid($pid, 1) == $pid) { ($code, $until) = (code_of($?), uptime() + 1) }
    last if defined $code && uptime() > $until;
    if (!defined $code && (uptime() > $until || $cancelled && $how->{look})) { kill 'KILL', -$pid; return (-1, $text) }
  }
  return ($code, $text);
}

# Runs a program in a session of its own, with a file as its output, and shows the file as it grows. With a pipe, the tools
# of Proxmox VE would stop half-way when this program is killed. With a function, which gets each line, the program is
# asked to stop when the job is cancelled. Returns the exit code and the output.
sub follow {
  my ($each, @command) = @_;
  open my $file, '+>', undef or return (71, "a temporary file: $!");
  open my $reader, '<', '/proc/self/fd/' . fileno $file or return (71, "a temporary file: $!");
  my ($pid, $never) = spawn($file, @command) or return (71, "the command cannot be started: $!");
  my ($text, $line, $code, $stops, $next) = ('', '', undef, 0, 0);
  until (defined $code) {
    select undef, undef, undef, 0.1;
    $code = code_of($?) if waitpid($pid, 1) == $pid;
    while (sysread $reader, my $bytes, 65536) {
      print $bytes;
      keep(262144, \$text, $bytes);
      next if !$each;
      $line .= $bytes;
      $each->($1) while $line =~ s/\A([^\n]*)\n//;
      $line = '' if length $line > 65536;
    }
    next if defined $code || !$cancelled || !$each || $stops == ${STOPS} || uptime() < $next;
    ($stops, $next) = ($stops + 1, uptime() + ${STOP_SECONDS});
    stop($pid);
  }
  return ($code, $text);
}
# Asks a program that follow has started to stop. An account with a sudo rule may not signal root's processes, so apt-get
# does it, which the rule allows, as when a job is cancelled.
sub stop {
  my ($pid) = @_;
  return kill 'TERM', $pid if $access eq 'root';
  mkdir "$folder/lists";
  run({ seconds => 10, most => 4096 }, 'sudo', '-n', '/usr/bin/apt-get', '-o', "Dir::State::Lists=$folder/lists", '-o', "APT::Update::Pre-Invoke::=kill -s TERM $pid; exit 1", 'update');
}

sub allowed { return ($access eq 'rule' ? ('sudo', '-n') : (), @_) }
sub pct {
  my ($verb, @words) = @_;
  return allowed('${CONTAINER_TOOL}', $verb, $id, @words);
}
# A step of the hypervisor: the verb of the host helper, or the command that it stands for. A whole one has no time limit.
sub host {
  my ($how, $verb, $own, @words) = @_;
  return by_api(@_) if goes_by_api($verb, @words);
  my @step = $access eq 'helper' ? ('sudo', '-n', '--', '${HOST_HELPER}', $verb, $id, @words) : @$own;
  return $how->{whole} ? follow(undef, @step) : run({ most => 262144, %$how }, @step);
}
sub snapshots {
  my ($code, $text) = host({ seconds => 60 }, 'snapshots', [pct('listsnapshot')]);
  return if $code != 0;
  return map { /^ *\x60-> +(\S+)/ ? $1 : () } split /\n/, $text;
}
sub forget {
  my ($which) = @_;
  return host({ whole => 1 }, 'forget', ['sh', '-c', $forget_text, 'ops-panel-forget', join(' ', allowed()), $id, $which], $which);
}

# What keeps a snapshot from fitting: a thin pool or a ZFS pool of this container that is nearly full.
sub lack_of_room {
  my ($code, $text) = host({ seconds => 60 }, 'room', ['sh', '-c', $room_text, 'ops-panel-room', join(' ', allowed()), $id]);
  my (%volume, %pool, %of, @lack);
  for (split /\n/, $text) {
    my ($what, @word) = split ' ';
    if ($what eq 'volume') { $volume{ $word[1] } = $word[0] }
    elsif ($what eq 'thin') { $pool{"$word[0]/$word[1]"} = [@word[2, 3]] }
    elsif ($what eq 'lv') { $of{ $word[1] } = "$word[0]/$word[2]" }
    elsif ($what eq 'zfs') { $pool{ $word[0] } = [$word[1]] }
    elsif ($what eq 'on') { push @{ $of{"storage $word[0]"} }, $word[1] }
  }
  my %used;
  for my $volume (keys %volume) {
    $used{ $of{$volume} } = 1 if $of{$volume} && !ref $of{$volume};
    $used{$_} = 1 for @{ $of{"storage $volume{$volume}"} // [] };
  }
  for my $pool (sort keys %used) {
    next if !$pool{$pool};
    my ($data, $meta) = @{ $pool{$pool} };
    push @lack, "$pool: $data %" . (defined $meta ? " (metadata: $meta %)" : '') if $data >= ${FULLEST} || ($meta // 0) >= ${FULLEST};
  }
  return join ', ', @lack;
}

# What a container does: a list of [kind, name, state, detail], or nothing if it could not be measured.
sub look {
  my ($which, $seconds) = @_;
  my ($code, $text) = host({ seconds => $seconds // ${LOOK_SECONDS}, look => 1 }, 'health', [pct('exec', '--', 'sh', '-c', $health_text, 'ops-panel-health', @$words)], @$words);
  my @items = items($text, 500);
  my $whole = $code == 0 && $text =~ /^end\n?\z/m;
  if (!$whole) { my $why = $code == -1 ? 'no answer in time' : last_line($text); note(health => $which, at => number(time), missing => $why || "exit code $code") if !$noted{"$which missing"}++; return }
  push @items, answers($which) if $policy->[5];
  # A rollback looks again and again; its first look is told.
  note(health => $which, at => number(time), items => [grep { $_->[0] ne 'packages' } @items]) if !$noted{$which}++;
  return \@items;
}
sub items {
  my ($text, $most) = @_;
  my (@items, %seen);
  for (split /\n/, $text) {
    next if !/^([a-z]{1,20})\t([ -~]{1,200})\t(good|bad)\t([ -~]{0,100})$/ || $seen{"$1\t$2"}++;
    push @items, [$1, $2, $3, $4];
    last if @items >= $most;
  }
  return @items;
}
# What the service's own probes say. A service that is away answers nothing, and the look goes on without it.
my %asked;
sub answers {
  my ($which) = @_;
  $which .= $asked{$which} if $asked{$which}++;
  unlink "$folder/answer-$which";
  note(ask => $which);
  my $until = uptime() + ${ANSWER_SECONDS};
  while (!$cancelled && uptime() < $until) {
    if (open my $file, '<', "$folder/answer-$which") { read $file, my $text, 65536; return items($text, 20) }
    select undef, undef, undef, 0.1;
  }
  return;
}

# What is worse in the second list: [kind, name, before, after].
sub worse {
  my ($before, $after) = @_;
  my %before = map { ("$_->[0]\t$_->[1]" => $_) } @$before;
  my %after = map { ("$_->[0]\t$_->[1]" => $_) } @$after;
  my @worse;
  for my $key (sort keys %{ +{ %before, %after } }) {
    my ($was, $is) = ($before{$key}, $after{$key});
    my ($kind, $called) = split /\t/, $key, 2;
    # A probe that was not asked in both looks says nothing.
    next if $kind eq 'packages' || $kind eq 'probe' && !($was && $is);
    my $failed = $is && $is->[2] eq $bad && !($was && $was->[2] eq $bad);
    my $gone = $was && $was->[2] eq $good && !$is;
    push @worse, [$kind, $called, $was && $was->[3], $is && $is->[3]] if $failed || $gone;
  }
  return \@worse;
}
sub worse_than { my ($before, $after) = @_; return $after ? worse($before, $after) : [['container', $id, 'answers', undef]] }
sub packages { my ($items) = @_; my ($found) = grep { $_->[0] eq 'packages' } @{ $items // [] }; return $found && $found->[3] }

# Goes back to the snapshot and starts the container. Returns whether it is back.
sub go_back {
  my ($before) = @_;
  phase('rolling_back');
  my $began = uptime();
  report("rolling back to $name");
  my ($code, $text) = host({ whole => 1 }, 'rollback', [pct('rollback', $name, '--start', 1)], $name);
  if ($code != 0 && $text =~ /Unknown option: start/) {
    ($code, $text) = host({ whole => 1 }, 'rollback', [pct('rollback', $name)], $name);
    ($code, $text) = host({ seconds => 300, shown => 1 }, 'start', [pct('start')]) if $code == 0;
  }
  if ($code != 0) { my $reason = last_line($text) || "exit code $code"; note(rollback => 'failed', reason => $reason); return 0 }
  return is_back($began, $before);
}
# Waits until a container that was started again answers, and until it does what it did before, but not for ever.
sub is_back {
  my ($began, $before) = @_;
  my ($until, $found) = (uptime() + ${START_SECONDS});
  until ($found || $cancelled || uptime() > $until) { $found = look('rolled_back') or nap(1) }
  if (!$found && $cancelled) { report("the container is back at $name; nobody waits until it answers"); $interrupted = 1; return 0 }
  if (!$found) { note(rollback => 'failed', reason => 'the container does not answer after its rollback'); return 0 }
  my $outage = uptime() - $began;
  my $left = $before ? worse($before, $found) : [];
  my $settled = uptime() + ($policy->[4] || 60);
  while (@$left && !$cancelled && uptime() < $settled) {
    nap(2);
    my $again = look('rolled_back') or next;
    $left = worse($before, $again);
  }
  note(rollback => 'done', outage => number($outage + 0.5), at => number(time), left => $left);
  return 1;
}

sub prune {
  my ($keep) = @_;
  my @own = sort { substr($a, 6) <=> substr($b, 6) } grep { /^panel-[0-9]{9,11}-[a-z0-9]{8}\z/ && $_ ne $name } snapshots();
  my (@gone, @kept);
  while (@own >= $keep && !$cancelled) {
    my $oldest = shift @own;
    my ($code, $text) = forget($oldest);
    if ($code == 0) { push @gone, $oldest } else { push @kept, [$oldest, last_line($text)]; last }
  }
  note(pruned => \@gone, kept => \@kept) if @gone || @kept;
}
`
