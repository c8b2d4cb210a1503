import { CONTAINER_TOOL } from '../hypervisor/pct.ts'

/** Seconds until the service must have answered, unless the step is at work then. Nothing has been changed before. */
const ANSWER_SECONDS = 600
/** The same after a question without an answer, and after a cancellation. */
const LAST_SECONDS = 60
/** Seconds that a rollback waits for the service: an end half-way is worse than a late one. */
const ROLLBACK_SECONDS = 86_400
/** Seconds after which the output says what is waited for. */
const TOLD_SECONDS = 15

/**
 * The Perl functions of `PROTECTED` for an account whose sudo rule does not allow the steps on snapshots, where the service
 * has a token of the hypervisor's API (access `api`). The token never leaves the service: the program asks it to do a step,
 * and waits for the answer (`functions/hypervisor/snapshot-answers.ts`). A service that was killed meanwhile finds the question
 * again, with the time at which it was asked, since which a task of the hypervisor belongs to it.
 */
export const API_STEPS = String.raw`
# Whether the service does the steps, the time of the last answer, and whether a question had none.
my ($by_api, $answered_at, $is_silent) = (0, time, 0);
my $own_name = qr/panel-[0-9]{9,11}-[a-z0-9]{8}/;
if ($access eq 'api') {
  $access = 'rule';
  my @needed = (['snapshot', $id, $name, '--description', 'ops-panel: before an upgrade'], ['rollback', $id, $name, '--start', 1], ['delsnapshot', $id, $name]);
  $by_api = 1 if grep { !may_run('${CONTAINER_TOOL}', @$_) } @needed;
}
sub goes_by_api { my ($verb, @words) = @_; return $by_api && $verb ne 'health' && !grep { !/\A$own_name\z/ } @words }

# A step by the API, as host() does it.
sub by_api {
  my ($how, $verb, $own, @words) = @_;
  return (1, "the API of the hypervisor takes no lock away: run 'pct unlock $id' on the host\n") if $verb eq 'unlock';
  my ($code, $text) = answer_of($how, $verb, @words);
  print $text if $how->{whole} || $how->{shown};
  return ($code, $text) if $verb ne 'state';
  refuse('failed', last_line($text)) if $code != 0 && $task !~ /\A(?:upgrade|application)\z/;
  # The host itself tells what works on the container; of other lines, the later ones count.
  my (undef, $seen) = run({ seconds => 60, most => 65536 }, @$own);
  return (0, "$seen\n$text");
}
# Asks the service and returns the exit code and the output of the step.
sub answer_of {
  my ($how, $verb, @words) = @_;
  # Tasks of the hypervisor since this second must not be those of the question before.
  my $until = uptime() + 2;
  select undef, undef, undef, 0.05 while time <= $answered_at && uptime() < $until;
  my $question = join '_', 'api', $verb, time, @words;
  note(ask => $question);
  my ($began, $is_told, $patience) = (uptime(), 0, $verb eq 'rollback' ? ${ROLLBACK_SECONDS} : $is_silent ? ${LAST_SECONDS} : ${ANSWER_SECONDS});
  while (1) {
    if (open my $file, '<', "$folder/answer-$question") {
      read $file, my $text, 65536;
      $answered_at = time;
      return $text =~ s/\Acode ([0-9]{1,3})\n// ? ($1, $text) : (1, "the answer of the service cannot be read\n");
    }
    return (-1, '') if $cancelled && !$how->{whole};
    my $waited = uptime() - $began;
    $patience = $waited + ${LAST_SECONDS} if $cancelled && $patience > $waited + ${LAST_SECONDS};
    if ($waited > ${TOLD_SECONDS} && !$is_told++) { report("waiting for the service, which does this step ($verb) by the API of the hypervisor") }
    last if $waited > $patience && !at_work();
    select undef, undef, undef, 0.1;
  }
  ($answered_at, $is_silent) = (time, 1);
  return (-1, "the service, which does this step by the API of the hypervisor, has not answered\n");
}
# Whether a step of the hypervisor works on the container.
sub at_work {
  my (undef, $seen) = run({ seconds => 60, most => 65536 }, 'sh', '-c', $state_text, 'ops-panel-state', 'sudo -n', $id, $name);
  return $seen =~ /^busy [0-9]+$/m;
}
`
