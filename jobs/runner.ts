/**
 * The runner leads the session of a job: `RUN <folder> <most bytes of output> <command> <argument>…`. It is Perl
 * without modules, because Perl is on every Debian and no other program there can keep the end of a stream. A signal to
 * the process group ends the command and not the runner, so that the exit code is always written. Without the runner, a
 * command that prints without end would fill the host's disk, and root in a container could rewrite the output file.
 *
 * The command writes into a pipe. If it had the output file open, root in a container could write into the file through
 * `/proc/self/fd/1`, and could change the mode of the host's `/dev/null` likewise. Its input is therefore an empty
 * pipe. It inherits no other descriptor, and no TMPDIR, which names a folder of the host.
 *
 * The first half of the kept output goes into `output` at once, up to the end of a line. The file `tail` is a ring
 * buffer for the other half. When the command ends, the runner appends to `output` a line with the number of missing
 * bytes, and then the contents of `tail`. `output` only grows, so a follower need not know about the cut. Bytes that a
 * full disk refuses count as missing too, and the command continues.
 *
 * A daemon of the command may keep the pipe open. The runner does not wait for it, and discards its output.
 */
export const RUN = `
use strict;
my ($job, $most, @command) = @ARGV;
$SIG{$_} = sub { } for qw(HUP INT TERM XFSZ);

my @inherited = do { opendir my $fds, '/proc/self/fd' or exit 74; grep { /^\\d+$/ && $_ > 2 } readdir $fds };
for my $fd (@inherited) { my $handle; open $handle, '<&=', $fd and close $handle }

sub line_of { open my $file, '<', $_[0] or return ''; my $line = <$file>; defined $line ? $line : '' }
sub create { my $file; open $file, '>', $_[0] and print $file $_[1] and close $file }
sub uptime { (split ' ', line_of('/proc/uptime'))[0] }

my ($stat) = line_of("/proc/$$/stat") =~ /.*\\) (.*)/;
my $started = (split ' ', $stat)[19];
create("$job/exit.new", ' ' x 80 . "\\n")
  && create("$job/process.new", "$$ $started " . line_of('/proc/sys/kernel/random/boot_id'))
  && open(my $output, '>>', "$job/output")
  && pipe(my $from, my $to)
  && pipe(my $nothing, my $never)
  && pipe(my $woken, my $wake)
  && rename("$job/process.new", "$job/process")
  or exit 74;
# F_SETPIPE_SZ: a larger pipe means fewer switches between the command and the runner. A failure is harmless.
fcntl $from, 1031, 1 << 20;

$SIG{CHLD} = sub { syswrite $wake, '.' };
my $pid = fork;
exit 74 if !defined $pid;
if ($pid == 0) {
  $SIG{$_} = 'DEFAULT' for qw(HUP INT TERM XFSZ CHLD);
  umask 022;
  delete @ENV{qw(TMPDIR TEMPDIR TMP TEMP)};
  close $never;
  open STDIN, '<&', $nothing and open STDOUT, '>&', $to and open STDERR, '>&', $to or exit 74;
  exec { $command[0] } @command;
  my $missing = $! == 2;
  print STDERR "$command[0]: $!\\n";
  exit($missing ? 127 : 126);
}
close $_ for $to, $nothing, $never;

my ($missing, $why, $line_begins, $full) = (0, '', 1, 'le disque de l’hôte est plein');
# Appends to output, after a line with the number of missing bytes, if any.
sub put {
  my ($bytes) = @_;
  my $note = $missing ? ($line_begins ? '' : "\\n") . "[… $missing octets omis : $why …]\\n" : '';
  my $all = $note . $bytes;
  my $at = 0;
  while ($at < length $all) {
    my $count = syswrite $output, $all, length($all) - $at, $at;
    if (defined $count) { $at += $count } elsif ($! != 4) { last }
  }
  $line_begins = substr($all, $at - 1, 1) eq "\\n" if $at > 0;
  $missing = 0 if $at >= length $note;
  return if $at == length $all;
  $missing += length($bytes) - ($at > length $note ? $at - length $note : 0);
  $why = $full;
}

# Returns the place, or the nearest of the three before it, that cuts no UTF-8 character.
sub between {
  my ($bytes, $place) = @_;
  for my $back (0 .. $place < 3 ? $place : 3) {
    return $place - $back if (ord(substr $bytes, $place - $back, 1) & 0xc0) != 0x80;
  }
  return $place;
}

# The length of the first half; the ring buffer, its size, the number of bytes written into it, and the position from
# which on it has no hole.
my ($head, $tail, $round, $turned, $whole_from) = (0, undef, 0, 0, 0);
sub keep {
  my ($bytes) = @_;
  if (!$tail) {
    my $room = ($most >> 1) - $head;
    if (length $bytes < $room) { $head += length $bytes; return put($bytes) }
    my $cut = rindex(substr($bytes, 0, $room), "\\n") + 1 || between($bytes, $room - 1);
    $head += $cut;
    $round = $most - $head;
    put(substr $bytes, 0, $cut, '');
    open $tail, '+>', "$job/tail" or open $tail, '+<', '/dev/null';
  }
  $turned += length $bytes;
  $bytes = substr $bytes, -$round if length $bytes > $round;
  my $at = ($turned - length $bytes) % $round;
  while (length $bytes) {
    my $piece = substr $bytes, 0, $round - $at, '';
    sysseek $tail, $at, 0;
    my $count = syswrite $tail, $piece;
    # Bytes that the disk refuses leave a hole. Only the bytes after it are kept.
    $whole_from = $turned if !defined $count || $count < length $piece;
    $at = 0;
  }
}

my ($ready, $bytes, $deadline, $code, $ended) = ('', '');
vec($ready, fileno $_, 1) = 1 for $from, $woken;
until ($ended || $deadline && uptime() > $deadline) {
  my $now = $ready;
  next if select($now, undef, undef, $deadline ? 0.05 : undef) < 1;
  if (vec $now, fileno $woken, 1) {
    sysread $woken, my $signals, 16;
    if (!$deadline && waitpid($pid, 1) == $pid) { ($code, $deadline) = ($?, uptime() + 1) }
  }
  next if !vec $now, fileno $from, 1;
  my $count = sysread $from, $bytes, 1 << 18;
  if ($count) { keep($bytes) } elsif (defined $count) { $ended = 1 }
}
if (!$ended) {
  my $reader = fork;
  if (defined $reader && $reader == 0) { open STDIN, '<&', $from; exec 'setsid', 'cat' or exit }
}
until (defined $code) { $code = $? if waitpid($pid, 0) == $pid }

if ($tail) {
  my $at = $turned > $round ? $turned - $round : 0;
  $at = $whole_from if $whole_from > $at;
  my $take = sub {
    my $count = 65536;
    for my $most ($round - $at % $round, $turned - $at) { $count = $most if $most < $count }
    sysseek $tail, $at % $round, 0;
    return sysread $tail, $bytes, $count;
  };
  if ($at > 0 && $take->()) {
    # Starts at the next line if one begins soon, else at the next character.
    my $skip = index(substr($bytes, 0, 4096), "\\n") + 1;
    if (!$skip) { $skip++ while $skip < 3 && (ord(substr $bytes, $skip, 1) & 0xc0) == 0x80 }
    $at += $skip;
    $missing += $at;
    $why ||= 'la sortie dépasse ' . ($most >> 20) . ' Mio';
  }
  while ($at < $turned && $take->()) { $at += length $bytes; put($bytes) }
  if ($at < $turned) { $missing += $turned - $at; $why = $full }
  unlink "$job/tail";
}
put('') if $missing;

open my $exit, '+<', "$job/exit.new" or exit 74;
print $exit $code & 127 ? 128 + ($code & 127) : $code >> 8, ' ', -s $output, "\\n";
close $exit and rename "$job/exit.new", "$job/exit";
`
