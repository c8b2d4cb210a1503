import type { Random } from '../soak/random.ts'
import { type Container, PHASES, type Phase } from './protecting.ts'
import { rig } from './rig.ts'

/** The containers in which runs are struck, one run in each. */
export const CONTAINERS: readonly Container[] = ['101', '102']

/** The latest moment of a strike: about as long as the phase lasts here, in ms. */
const WITHIN_MS: Record<Phase, number> = {
  protecting: 1_400,
  measuring: 500,
  upgrading: 2_500,
  settling: 4_500,
  comparing: 5_500,
  rolling_back: 1_800,
  pruning: 1_000,
}
/** The victim of a strike: the service with SIGKILL, all SSH sessions, or both. */
const WAYS = ['kill', 'cut', 'both'] as const

/** Which phases of which container are struck: each phase once, and those of a rollback where there is one. */
export function pointsOf(random: Random, count: number) {
  const rolled = random.pick(['101', '102'])
  const phases = new Set(random.shuffled(PHASES).slice(0, count))
  const points = PHASES.filter((phase) => phases.has(phase)).map((phase) => ({
    phase,
    container: phase === 'rolling_back' ? rolled : random.pick(['101', '102']),
    way: random.pick(WAYS),
    afterMs: random.between(0, WITHIN_MS[phase]),
  }))
  const policies = CONTAINERS.map((id) => (id === rolled || random.chance(0.3) ? 'rollback' : 'ask'))
  return { points, policies }
}

/**
 * Ends processes of a job: `runner`, its runner alone; `program`, the runner and the program below it; `all`, everything
 * below the runner, with the steps of the hypervisor and what runs in the container, as when the power is cut. `cut` ends
 * all SSH sessions, `nothing` nothing.
 */
export type Blow = 'runner' | 'program' | 'all' | 'cut' | 'nothing'

interface Strike {
  blow: Blow
  phase: Phase
  /** The time after the beginning of the phase, or of the lock. */
  afterMs?: number
  /** The lock of the container that is waited for within the phase: a step is then at work. */
  lock?: string
}

/** Strikes a job of the host, whose folder is given, at a moment of a phase. Returns the phase in which it did. */
export function strike(
  folder: string,
  id: Container,
  { blow, phase, afterMs = 0, lock = '' }: Strike,
): Promise<string> {
  return rig('in', 'host', 'perl', '-e', STRIKE, folder, id, blow, phase, String(afterMs), lock)
}

const STRIKE = String.raw`use strict;
my ($folder, $id, $blow, $phase, $after, $lock) = @ARGV;
sub text { open my $file, "<", $_[0] or return ""; local $/; my $text = <$file>; return $text // "" }
sub of_job { my ($path) = glob "/var/tmp/ops-panel-jobs-*/$folder/$_[0]"; return defined $path ? text($path) : "" }
sub nap { select undef, undef, undef, $_[0] }
my $tries = 0;
sub await {
  my ($what, $is_so) = @_;
  until ($is_so->()) { nap(0.01); die "$what did not come: " . of_job("notes") if ++$tries > 9000 }
}
await("phase $phase", sub { of_job("notes") =~ /"phase":"$phase"/ });
await("lock $lock", sub { text("/etc/pve/lxc/$id.conf") =~ /^lock: $lock$/m }) if $lock ne "";
nap($after / 1000);
if ($blow eq "cut") { system "pkill", "-KILL", "-f", "^sshd(-session)?: [^/]" }
elsif ($blow ne "nothing") {
  my ($runner) = split " ", of_job("process");
  my %below;
  for my $pid (map { m{(\d+)$} } glob "/proc/[0-9]*") {
    push @{ $below{$1} }, $pid if text("/proc/$pid/stat") =~ /.*\) \S (\d+)/s;
  }
  # Parents come first: none of them sees its child end.
  my @all = ($runner);
  for (my $at = 0; $at < @all; $at++) {
    last if $blow eq "runner" || $blow eq "program" && $at > 0;
    push @all, @{ $below{ $all[$at] } // [] };
  }
  kill "KILL", @all;
}
my @phases = of_job("notes") =~ /"phase":"(\w+)"/g;
print $phases[-1];`
