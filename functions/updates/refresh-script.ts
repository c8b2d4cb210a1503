import { quote } from '../../ssh/ssh.ts'
import { TROUBLE } from '../findings/repository-findings.ts'

/**
 * The Perl of `RELAY` and `WATCH`: runs the command in `@ARGV` with an output pipe of its own, passes each piece to
 * `take`, executes `last` and exits with the command's code. Processes that the command leaves behind hold no other
 * pipe: the copy ends one second after the command, whoever keeps the pipe open.
 */
export function relay({ first, take, last }: { first: string; take: string; last: string }): string {
  return `
use strict;
${first}
sub uptime { open my $file, "<", "/proc/uptime" or return 0; (split " ", <$file>)[0] }
sub put {
  my ($bytes, $take) = @_;
  for (my $at = 0; $at < $take;) {
    my $written = syswrite STDOUT, $bytes, $take - $at, $at;
    if (defined $written) { $at += $written } elsif ($! != 4) { exit 74 }
  }
}
pipe my $from, my $to or exit 74;
pipe my $woken, my $wake or exit 74;
$SIG{CHLD} = sub { syswrite $wake, "." };
my $pid = fork;
exit 74 if !defined $pid;
if ($pid == 0) {
  $SIG{CHLD} = "DEFAULT";
  open STDOUT, ">&", $to and open STDERR, ">&", $to or exit 74;
  exec { $ARGV[0] } @ARGV;
  print STDERR "$ARGV[0]: $!\\n";
  exit($! == 2 ? 127 : 126);
}
close $to;
my ($ready, $code, $deadline) = ("");
vec($ready, fileno $_, 1) = 1 for $from, $woken;
until ($deadline && uptime() > $deadline) {
  my $now = $ready;
  next if select($now, undef, undef, $deadline ? 0.05 : undef) < 1;
  if (vec $now, fileno $woken, 1) {
    sysread $woken, my $signals, 16;
    if (!defined $code && waitpid($pid, 1) == $pid) { ($code, $deadline) = ($?, uptime() + 1) }
  }
  next if !vec $now, fileno $from, 1;
  my $count = sysread $from, my $bytes, 65536;
  next if !defined $count;
  last if $count == 0;
  ${take}
}
until (defined $code) { $code = $? if waitpid($pid, 0) == $pid }
${last}
exit($code & 127 ? 128 + ($code & 127) : $code >> 8);
`
}

/** Lines of one refresh that are kept, and bytes of each. */
const MOST_LINES = 50
const MOST_BYTES = 1000

/**
 * `WATCH <command> <argument>…`: runs a refresh and copies its output as it comes. At the end writes to descriptor 4
 * the repositories that could not be refreshed, in one line, and then a line for each that calls itself otherwise than
 * before: `E <repository>` if apt refuses it for that, `N <repository>` if apt has accepted it. A repository is `<base> <suite>`, or the address where apt names no suite.
 */
const WATCH = relay({
  first: `open my $told, ">&=", 4 or exit 74;
# F_SETFD, FD_CLOEXEC: the command and the processes that it leaves behind do not get it.
fcntl $told, 2, 1;
my ($line, %seen, @failed, @changed) = ("");
sub look {
  my ($text) = @_;
  return if $text !~ /^[EWN]: /;
  my $change = $text =~ /^([EWN]): Repository '[^']*' changed its '/ ? $1 eq "N" ? "N" : "E" : "";
  return if $text =~ /^N: / && !$change;
  return if !$change && $text !~ /${TROUBLE.source}/;
  return if $text =~ /^E: Problem executing scripts/;
  push @changed, "E ?" if $change && $text !~ m{\\b[a-z][a-z0-9+.-]{1,30}:/} && !$seen{"E ?"}++;
  $text =~ s{(://)[^\\s/@]{1,500}@}{$1}g;
  my ($name) = $text =~ m{\\b([a-z][a-z0-9+.-]{1,30}:/[^\\s'"]+)} or return;
  if ($text =~ m{\\Q$name\\E ([^'\\s/]+) (?:In)?Release\\b}) { $name =~ s{/+$}{}; $name .= " $1" }
  elsif ($name =~ m{^(.*?)/+dists/([^/]+)}) { $name = "$1 $2" }
  else { $name =~ s{/\\.?/?(InRelease|Release|Packages)?$}{} }
  $name =~ tr/\\x20-\\x7e//cd;
  $name = substr $name, 0, 300;
  push @failed, $name if $change ne "N" && @failed < ${MOST_LINES} && !$seen{"failed $name"}++;
  push @changed, "$change $name" if $change && @changed < 10 * ${MOST_LINES} && !$seen{"changed $change $name"}++;
}`,
  take: `put($bytes, $count);
  for my $piece (split /(?<=\\n)/, $bytes) {
    my $room = ${MOST_BYTES} - length $line;
    $line .= substr $piece, 0, $room if $room > 0;
    next if $piece !~ /\\n\\z/;
    look($line);
    $line = "";
  }`,
  last: `look($line);
syswrite $told, join("\\n", join(", ", @failed), @changed) . "\\n";`,
})

/**
 * Shell functions, which need `PAUSE`. `read_lists <command> <argument>…` runs `apt-get … update` live, once no other
 * process holds the lock of the lists, or 120 seconds have passed. It ends the script with the command's code where the
 * refresh has failed as a whole, and returns otherwise. `$failed` then names the repositories that could not be
 * refreshed, and is empty when there are none; `$changed` has a line for each that apt refuses because it calls itself
 * otherwise than before, `$accepted` one for each whose change apt has accepted.
 */
export const REFRESH = `
refresh() {
  { told=$(perl -e ${quote([WATCH])} "$@" </dev/null 4>&1 >&3 3>&-) && code=0 || code=$?; } 3>&1
  failed=$(printf '%s\\n' "$told" | head -n 1)
  changed=$(printf '%s\\n' "$told" | sed -n '2,$s/^E //p')
  accepted=$(printf '%s\\n' "$told" | sed -n '2,$s/^N //p')
  return "$code"
}
read_lists() {
  waited=0 lists=/var/lib/apt/lists/lock
  pause "$lists"
  until refresh "$@"; do
    locked "$lists" && [ "$waited" -lt 120 ] || break
    pause "$lists"
  done
  case $code:$failed in
    0:* | 100:?*) ;;
    *) exit "$code" ;;
  esac
}`
