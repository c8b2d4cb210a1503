package Rig::Configuration;

# The configuration files of containers, with a section for each snapshot, as PVE::AbstractConfig reads and writes them;
# their locks; and the faults that `rig.sh ct-fault` asks for.
use strict;
use warnings;
use Exporter 'import';
use Fcntl qw(:flock);

our @EXPORT = qw(fail read_lines write_lines delayed fault note current load save locking changing refuse_locked);
our $CONFIGS = '/etc/pve/nodes/pve/lxc';
our $failures_die = 0;    # set by who has something to clean up

# Ends the program with this text and exit code 255.
sub fail {
  die $_[0] if $failures_die;
  print STDERR $_[0];
  exit 255;
}

sub read_lines { open my $file, '<', $_[0] or return ''; local $/; return <$file> // ''; }

sub write_lines {
  my ($path, @lines) = @_;
  open my $file, '>', $path or fail("$path: $!\n");
  print $file map {"$_\n"} @lines;
  close $file or fail("$path: $!\n");
}

# Waits as long as a file of /etc/rig says, in milliseconds.
sub delayed { select(undef, undef, undef, (read_lines("/etc/rig/$_[0]") || 0) / 1000); }

# Whether a container has a fault, as the text of the fault, or 1 where it has none.
sub fault {
  my ($id, $kind) = @_;
  my $path = "/etc/rig/faults/$id-$kind";
  return 0 if !-e $path;
  my $text = read_lines($path) =~ s/\s+\z//r;
  return $text eq '' ? 1 : $text;
}

# Logs a call that changes something, for `rig.sh pct-log`: seconds since 1970, then its words.
sub note { open my $file, '>>', '/var/log/rig-pct.log' or return; print $file join(' ', time, @_) . "\n"; }

# The current part of a container's configuration and its snapshots, each as keys and values.
sub load {
  my ($id) = @_;
  -e "$CONFIGS/$id.conf" or fail("Configuration file 'nodes/pve/lxc/$id.conf' does not exist\n");
  my $part = {};
  my $all = { current => $part, snapshots => {} };
  for (split /\n/, read_lines("$CONFIGS/$id.conf")) {
    if (/^\[([^\]]+)\]\s*$/) { $part = $all->{snapshots}{$1} = {}; }
    elsif (/^#(.*)/) { $part->{description} = join "\n", $part->{description} // (), decoded($1); }
    elsif (/^(lxc\.[a-z0-9.]+|[a-z0-9_]+):\s*(.*?)\s*$/) { $part->{$1} = $2; }
  }
  return $all;
}

sub decoded { return $_[0] =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ger; }

sub current { my ($id) = @_; return load($id)->{current}; }

sub save {
  my ($id, $all) = @_;
  my $text = section($all->{current});
  $text .= "\n[$_]\n" . section($all->{snapshots}{$_}) for sort keys %{ $all->{snapshots} };
  open my $file, '>', "$CONFIGS/.$id.new" or fail("$CONFIGS: $!\n");
  print $file $text;
  close $file or fail("$CONFIGS: $!\n");
  rename "$CONFIGS/.$id.new", "$CONFIGS/$id.conf" or fail("$CONFIGS: $!\n");
}

sub section {
  my ($part) = @_;
  my @described = split /\n/, ($part->{description} // '') =~ s/([%\x80-\xff])/sprintf '%%%02X', ord $1/ger;
  return join '', map({"#$_\n"} @described), map {"$_: $part->{$_}\n"} grep { $_ ne 'description' } sort keys %$part;
}

# Does some work while no other pct changes the container. What takes long gives up this lock and leaves a word at
# `lock:` in the configuration.
sub locking {
  my ($id, $work) = @_;
  my $path = "/run/lock/lxc/pve-config-$id.lock";
  system('mkdir', '-p', '/run/lock/lxc');
  open my $lock, '>', $path or fail("can't open lock file '$path' - $!\n");
  my $tries = 0;
  until (flock $lock, LOCK_EX | LOCK_NB) {
    print STDERR "trying to acquire lock...\n" if $tries == 0;
    fail("can't lock file '$path' - got timeout\n") if $tries++ > 200;
    select(undef, undef, undef, 0.05);
  }
  $work->();
  close $lock;
}

# Changes the configuration by the given work, which gets the current part and the snapshots.
sub changing {
  my ($id, $work) = @_;
  locking($id, sub {
    my $all = load($id);
    $work->($all->{current}, $all->{snapshots});
    save($id, $all);
  });
}

sub refuse_locked { my ($current) = @_; fail("CT is locked ($current->{lock})\n") if $current->{lock}; }

1;
