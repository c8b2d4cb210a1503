import { beforeAll, expect, test } from 'vitest'
import { BOUND } from '../../functions/plans/bound-script.ts'
import { randomOf, rounds, seedOf } from '../rounds.ts'
import {
  codeOf,
  doneOf,
  EVERYTHING,
  expectTruth,
  hold,
  type Stage,
  STAGES,
  startAttacks,
  stateOf,
} from './attacked-plans.ts'
import { inside, type Place } from './rig.ts'

const seed = seedOf('test/host/plan-kills.test.ts', 'host')
let attacks: Awaited<ReturnType<typeof startAttacks>>

beforeAll(async () => {
  attacks = await startAttacks()
  return attacks.stop
})

/** A process of a run: `below` is any of those that the script has started, `above` any of those that have started it. */
type Victim = 'shell' | 'perl' | 'apt' | 'hook' | 'below' | 'above'

/** The stages at which there is such a process. */
const ALIVE: Record<Victim, readonly Stage[]> = {
  shell: STAGES,
  perl: STAGES,
  apt: STAGES.slice(STAGES.indexOf('downloaded')),
  hook: ['hook'],
  below: STAGES,
  above: STAGES,
}

/** Processes above the script are on the host alone, which has turns of its own for them. */
const VICTIMS: readonly Victim[] = ['shell', 'perl', 'apt', 'hook', 'below']

test('a kill of any process of a run, at any moment, leaves nothing or what was planned', async () => {
  const random = randomOf(seed)
  const kills = random.shuffled(
    VICTIMS.flatMap((victim) => {
      const stages = random.shuffled(ALIVE[victim])
      return Array.from({ length: rounds(3, 24) }, (_, at) => ({ victim, stage: stages[at % stages.length] ?? 'hook' }))
    }),
  )
  const told: string[] = []
  for (let turn = 0; kills.length > 0; turn += 1) {
    await attacks.everywhere(async (place, plans, account) => {
      const isAbove = place === 'host' && turn % 2 === 0
      const kill = isAbove ? { victim: 'above' as const, stage: random.pick(STAGES) } : kills.pop()
      const waits = random.chance(0.5)
      const afterMs = random.between(0, waits || kill?.victim === 'hook' ? 10 : 60)
      const pick = random.next()
      if (!kill) return undefined
      const before = await stateOf(place)
      const plan = await plans.plan(place, { ...EVERYTHING, exclude: ['rig-conf'] })
      await hold(place, kill.stage)
      const job = await plans.start(place, plan)
      const name = await killOne(place, { waits, afterMs, pick, victim: kill.victim })
      const record = await plans.end(job)
      return async () => {
        const done = doneOf(plan, before, await stateOf(place))
        const when = `${waits ? 'at' : 'after'} ${kill.stage}`
        told.push(`${name} (${kill.victim}) ${when} as ${account} on ${place}: ${done}, ${codeOf(record)}`)
        expectTruth(record, done)
        if (done !== 'nothing') await inside(place, 'test -e /etc/rig/stage/asked')
        if (done !== 'a part') return
        expect(await inside(place, CONTINUE)).toBe('continued')
        doneOf(plan, before, await stateOf(place))
      }
    }, turn)
  }
  // The host helper removes what a killed one has left, when it does its next work.
  await attacks.as.narrow.plan('host', EVERYTHING)
  expect(await inside('host', 'find /run/ops-panel-host -mindepth 2')).toBe('')
  console.info(`seed ${seed}\n${told.join('\n')}`)
})

const CONTINUE = `export DEBIAN_FRONTEND=noninteractive
{ dpkg --force-confdef --force-confold --configure -a; apt-get -y -f install; } </dev/null >/dev/null 2>&1
[ -n "$(dpkg --audit)" ] || echo continued`

test('a kill at any system call of the program that holds the preferences leaves no file', async () => {
  const kills = await inside(
    '101',
    `cd /var/tmp && ls -A / /tmp /var/tmp >/etc/rig/listed && perl - ${rounds(5, 1)} <<'P'
${KILL_AT_EACH.replace('BOUND', () => BOUND)}
P
ls -A / /tmp /var/tmp | diff /etc/rig/listed - || true`,
  )
  expect(kills).toMatch(/^[1-9]\d{2,}$/)
})

/** Runs `BOUND` many times, and kills it each time at a later stop of ptrace(2), before or after a system call. */
const KILL_AT_EACH = `my $ptrace = qx(uname -m) =~ /^aarch64/ ? 117 : 101;
my $bound = <<'B';
BOUND
B
my ($every, $kills) = ($ARGV[0], 0);
for (my $last = 0; ; $last += $every) {
  pipe my $from, my $to;
  my $pid = fork;
  if ($pid == 0) {
    open STDIN, "<&", $from;
    open STDOUT, ">", "/dev/null";
    syscall $ptrace, 0, 0, 0, 0;
    exec "perl", "-e", $bound, "cat", "PREFERENCES";
  }
  close $from;
  print $to "Package: *\\nPin: version *\\nPin-Priority: 1001\\n";
  close $to;
  my ($stops, $signal) = (0, 0);
  my $state = sub { waitpid $pid, 0; \${^CHILD_ERROR_NATIVE} };
  my $now = $state->();
  while (($now & 255) == 127 && $stops++ < $last) {
    syscall $ptrace, 24, $pid, 0, $signal;
    $now = $state->();
    $signal = $now >> 8 == 5 ? 0 : $now >> 8;
  }
  last if ($now & 255) != 127;
  kill "KILL", $pid;
  waitpid $pid, 0;
  $kills++;
}
print "$kills\\n";`

/**
 * Waits until a run has reached the stage where it waits, and kills a process of it `afterMs` later: while it waits, or
 * as soon as it has gone on. `pick`, from 0 to 1, chooses one of several. Returns the name of the killed program, or
 * `gone` where no such process was left.
 */
function killOne(
  place: Place,
  { victim, waits, afterMs, pick }: { victim: Victim; waits: boolean; afterMs: number; pick: number },
): Promise<string> {
  const words = [victim, waits ? '1' : '', String(afterMs / 1000), String(pick)]
  return inside(place, `perl - ${words.map((word) => `'${word}'`).join(' ')} <<'P'\n${KILLER}\nP`)
}

const KILLER = `use strict;
my ($victim, $waits, $after, $pick) = @ARGV;
my $stage = "/etc/rig/stage";
sub text { open my $file, "<", $_[0] or return ""; local $/; my $text = <$file>; defined $text ? $text : "" }
my $tries = 0;
until (-e "$stage/reached") { select undef, undef, undef, 0.005; die "the stage was not reached" if ++$tries > 4000 }
unlink "$stage/hold" if !$waits;
select undef, undef, undef, $after if $after;
my $own = readlink "/proc/self/ns/pid";
my (%parent, %kind, %ours);
for my $pid (map { m{(\\d+)$} } glob "/proc/[0-9]*") {
  # The containers' processes are in the host's /proc too.
  next if (readlink("/proc/$pid/ns/pid") || "") ne $own;
  my @words = split /\\0/, text("/proc/$pid/cmdline");
  my ($name, $rest) = text("/proc/$pid/stat") =~ /\\((.*)\\) (.*)/s or next;
  $parent{$pid} = (split " ", $rest)[1];
  $ours{$pid} = grep { /ops-panel/ } @words;
  next if @words < 4;
  $kind{$pid} = "shell" if $words[0] eq "sh" && $words[3] eq "ops-panel-planned";
  $kind{$pid} = "hook" if $words[0] eq "sh" && $words[3] eq "ops-panel-plan" && $words[4] =~ /^[0-9a-f]{64}$/;
  $kind{$pid} = "perl" if $words[0] eq "perl" && $words[2] =~ /PREFERENCES/;
  $kind{$pid} = "apt" if $name eq "apt-get" && grep { $_ eq "-y" } @words;
}
# A subshell has the words of its shell.
my $top = sub { my ($pid) = @_; my $above = $kind{$parent{$pid}}; !$above || $above ne $kind{$pid} };
my $below = sub { my ($pid) = @_; while ($pid = $parent{$pid}) { return 1 if ($kind{$pid} || "") eq "shell" } 0 };
my $is = sub { my ($pid, $what) = @_; ($kind{$pid} || "") eq $what && $top->($pid) };
my @found = sort { $a <=> $b } grep { $victim eq "below" ? $below->($_) : $is->($_, $victim) } keys %parent;
if ($victim eq "above") {
  my ($pid) = grep { $is->($_, "shell") } keys %parent;
  while ($pid && $ours{$pid = $parent{$pid}}) { push @found, $pid }
}
my $one = $found[int($pick * @found)];
my ($name) = defined $one ? text("/proc/$one/stat") =~ /\\((.*)\\)/s : ();
print defined $one && kill("KILL", $one) ? $name : "gone";
unlink "$stage/hold";`
