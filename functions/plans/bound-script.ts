import { agreesLine, comparison, DIFFERS_END, DIFFERS_MARK, RUN_CODES } from '../managers/agreement.ts'
import { relay } from '../updates/refresh-script.ts'

/*
 * Two programs bind the run of a plan: one runs apt with preferences that no named file holds, the other one compares.
 * The host helper contains these texts: any change of them, even of a comment, needs a new `HELPER_VERSION`.
 */

const { differs, unbound, notBegun } = RUN_CODES

/**
 * `BOUND <command> <argument>…`: runs apt with the preferences that stdin gives. The file with them has no name
 * (O_TMPFILE of open(2)), so nobody else can write or link it, and nothing stays behind whatever ends this process. Only
 * where no folder for temporary files can do that, the file has a name for a moment, with mode 600. The argument
 * `PREFERENCES` becomes its address below /proc, and `CLEARED` that of another one, which drops the hooks that the
 * target has in `DPkg::Pre-Install-Pkgs`, so that the hook of a plan can be the first one. Exits with 74 when a file
 * cannot be written whole. With `PLAN_BOUND` in the environment, the exit code tells what became of the plan: apt's own
 * after the hook of `PLANNED` has agreed, else one of `RUN_CODES`. Nothing that is printed after the hook has agreed counts.
 */
export const BOUND = relay({
  first: `sub nameless {
  my $file;
  for my $folder ("/tmp", "/var/tmp", "/dev/shm") {
    return $file if sysopen $file, $folder, O_RDWR | O_DIRECTORY | 020000000, 0600;
  }
  open($file, "+>", undef) or unwritable();
  return $file;
}
sub unwritable {
  print STDERR "ops-panel-plan: the choice of packages cannot be written: $!\\n";
  exit($ENV{PLAN_BOUND} ? ${notBegun} : 74);
}
my ($file, $cleared) = (nameless(), nameless());
print $cleared "#clear DPkg::Pre-Install-Pkgs;\\n" or unwritable();
binmode STDIN;
while (1) {
  my $count = sysread STDIN, my $text, 65536;
  unwritable() if !defined $count;
  last if $count == 0;
  print $file $text or unwritable();
}
defined $file->flush && defined $cleared->flush && close STDIN && open STDIN, "<", "/dev/null" or unwritable();
sub address { "/proc/$$/fd/" . fileno $_[0] }
s/\\bPREFERENCES\\b/address($file)/e, s/^CLEARED\\z/address($cleared)/e for @ARGV;
my ($line, $agreed, $refused, $ended, $dpkg) = ("", 0, 0, 0, 0);`,
  // After a refusal apt prints the whole text of the hook.
  take: `next if $ended;
  my $take = 0;
  for my $piece (split /(?<=\\n)/, $bytes) {
    $take += length $piece;
    $line .= $piece if length $line < 200;
    next if $piece !~ /\\n\\z/;
    $agreed = 1 if $line eq "${agreesLine('apt')}\\n";
    $refused = 1 if !$agreed && $line eq "${DIFFERS_MARK}\\n";
    $dpkg = 1 if $line =~ /^(\\(Reading database |Preparing to unpack |Unpacking |Setting up |Removing )/;
    $ended = $refused && $line eq "${DIFFERS_END}\\n";
    $line = "";
    last if $ended;
  }
  put($bytes, $take);`,
  last: `if ($ENV{PLAN_BOUND} && !$agreed) {
  # Without a change to make, apt asks no hook.
  my $idle = $code == 0 && !$refused && !$dpkg;
  print "\\n${DIFFERS_MARK}\\n${DIFFERS_END}\\n" if $idle;
  if ($refused || $idle) { $code = ${differs} << 8 }
  elsif ($dpkg) { $code = ${unbound} << 8 }
  elsif (!($code & 127)) { $code = ${notBegun} << 8 }
}`,
}).replace('use strict;', 'use strict;\nuse Fcntl;\nuse IO::Handle;')

/** awk patterns of the words of deb-control(5) that a line has; \`-\` stands for an absent version or architecture. */
const NAME = '/^[a-z0-9][a-z0-9+.-]*$/'
const VERSION = '/^(-|[A-Za-z0-9][A-Za-z0-9.+:~-]*)$/'
const ARCHITECTURE = '/^(-|[a-z0-9][a-z0-9-]*)$/'

/**
 * `HOOK <hash>`, which apt runs as root after the download and before it changes anything (`DPkg::Pre-Install-Pkgs`,
 * version 3 of apt-pkg/deb/dpkgpm.cc): makes the lines of a plan's hash from what apt is about to do, and refuses when
 * their hash is another one. It needs no file. A package that is only configured changes nothing that a plan names. apt
 * takes names and versions with any character from a repository, so a line that has not exactly its nine words agrees
 * with no plan.
 */
const HOOK = `export LC_ALL=C
found=$(awk -F '[ ]' '!body { if (NR == 1 && $0 != "VERSION 3") { print "unknown format"; exit } if ($0 == "") body = 1; next }
  NF != 9 || $1 !~ ${NAME} || $2 !~ ${VERSION} || $3 !~ ${ARCHITECTURE} || $5 !~ /^[<=>]$/ || $6 !~ ${VERSION} || $7 !~ ${ARCHITECTURE} {
    print "unreadable - -"; next }
  $6 == "-" { print "remove " $1 ":" $3, $2, "-"; next }
  $2 == "-" { print "install " $1 ":" $7, "-", $6; next }
  $5 == "<" { print "upgrade " $1 ":" $7, $2, $6; next }
  $5 == ">" { print "downgrade " $1 ":" $7, $2, $6; next }
  $9 != "**CONFIGURE**" { print "reinstall " $1 ":" $7, $2, $6 }' | sort -u)
${comparison({ hash: '$1', manager: 'apt', end: 'exit' })}`

/** The hook's text inside single quotes of the command line that apt gives to a shell. */
export const QUOTED_HOOK = HOOK.replaceAll("'", `'\\''`)
