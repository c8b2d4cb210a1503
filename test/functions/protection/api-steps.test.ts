import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { API_STEPS } from '../../../functions/protection/api-steps.ts'

const NAME = 'panel-1772366400-k3x9q2pa'

/** The functions around `API_STEPS`, as far as it needs them. An answer comes when its question is noted. */
const AROUND = String.raw`
use strict;
my ($folder, $allows, $busy, $answer) = @ARGV;
my ($task, $access, $id, $name, $cancelled, $state_text) = ('upgrade', 'api', '101', '${NAME}', 0, 'state');
$| = 1;
sub uptime { open my $file, '<', '/proc/uptime'; return (split ' ', <$file>)[0] }
sub report { print "ops-panel: $_[0]\n" }
sub last_line { return (split /\n/, $_[0])[-1] }
sub refuse { print "refused: $_[0]: $_[1]\n"; exit 69 }
sub may_run { return index("$allows,", "$_[1],") >= 0 }
sub run { return (0, ($busy-- > 0 ? "busy 17\n" : '') . "status running\nsnapshot unknown\n") }
sub note {
  my (undef, $question) = @_;
  print "asked: $question\n";
  return if $answer eq '';
  open my $file, '>', "$folder/answer-$question";
  print $file $answer =~ s/\\n/\n/gr;
  close $file;
}
`

/** Runs Perl after `API_STEPS`, whose seconds are divided by so much. */
async function run(
  script: string,
  {
    answer = '',
    allows = '',
    busy = 0,
    faster = 300,
  }: { answer?: string; allows?: string; busy?: number; faster?: number } = {},
): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'api-steps-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const steps = API_STEPS.replace(/(?<!=> )\b(86400|600|60|15)\b/g, (seconds) => String(Number(seconds) / faster))
  expect(steps).not.toBe(API_STEPS)
  const words = ['-e', AROUND + steps + script, folder, allows, String(busy), answer]
  const { stdout } = await promisify(execFile)('perl', words).catch((error: unknown) => ({
    stdout: String(Object(error).stdout),
  }))
  return stdout.split('\n').filter((line) => line !== '')
}

const SNAPSHOT = `my ($code, $text) = by_api({ whole => 1 }, 'snapshot', [], $name); print "$code|$text\\n";`
const SILENT = 'the service, which does this step by the API of the hypervisor, has not answered'

test('a step is asked for with its time and its snapshot, and its answer is the output', async () => {
  const [asked = '', ...rest] = await run(SNAPSHOT, { answer: 'code 0\\nlvcreate\\ndone\\n' })

  expect(asked).toMatch(/^asked: api_snapshot_\d{10}_panel-1772366400-k3x9q2pa$/)
  expect(rest).toEqual(['lvcreate', 'done', '0|lvcreate', 'done'])
})

test.each([
  ['a failure', 'code 1\\nCT is locked (backup)\\n', '1|CT is locked (backup)'],
  ['no answer of a step', 'OK\\n', '1|the answer of the service cannot be read'],
  ['a code that is none', 'code 99999\\n', '1|the answer of the service cannot be read'],
])('%s is a failure', async (_title, answer, last) => {
  expect((await run(SNAPSHOT, { answer })).at(-1)).toBe(last)
})

test('two questions never have the same second, by which the service tells their tasks apart', async () => {
  const script = `by_api({}, 'forget', [], $name) for 1 .. 3;`

  const lines = await run(script, { answer: 'code 0\\n' })

  const times = lines.map((line) => Number(/_(\d{10})_/.exec(line)?.[1]))
  expect(new Set(times).size).toBe(3)
})

test('without an answer, a step gives up and says what it waited for, and so does the next one', async () => {
  const lines = await run(`${SNAPSHOT} my ($next) = by_api({}, 'snapshots', []); print "$next $is_silent\\n";`)

  expect(lines.slice(1, 4)).toEqual([
    'ops-panel: waiting for the service, which does this step (snapshot) by the API of the hypervisor',
    SILENT,
    `-1|${SILENT}`,
  ])
  expect(lines.at(-1)).toBe('-1 1')
})

test('a step that works on the container is waited for', async () => {
  const lines = await run(`${SNAPSHOT} print "left: $busy\\n";`, { busy: 5 })

  expect(lines.slice(-2)).toEqual([`-1|${SILENT}`, 'left: -1'])
})

test('a rollback waits longer than everything else', async () => {
  const script = `$SIG{ALRM} = sub { print "still waiting\\n"; exit }; alarm 4; by_api({ whole => 1 }, 'rollback', [], $name);`

  expect((await run(script)).at(-1)).toBe('still waiting')
})

test('a cancelled look ends at once, and a cancelled change a moment later', async () => {
  expect(await run(`$cancelled = 1; my ($code) = by_api({}, 'snapshots', []); print "$code\\n";`)).toMatchObject([
    expect.stringMatching(/^asked/),
    '-1',
  ])
  const rollback = `$cancelled = 1; my ($code) = by_api({ whole => 1 }, 'rollback', [], $name); print "$code\\n";`
  expect((await run(rollback)).at(-1)).toBe('-1')
})

test('the state is what the API says, with what only the host sees', async () => {
  const script = `my (undef, $text) = by_api({}, 'state', ['sh'], $name); my %state = map { split / / } grep { / / } split /\\n/, $text; print map { "$_ $state{$_}\\n" } sort keys %state;`

  const lines = await run(script, { answer: 'code 0\\nstatus stopped\\nlock rollback\\nsnapshot whole\\n', busy: 1 })

  expect(lines.slice(1)).toEqual(['busy 17', 'lock rollback', 'snapshot whole', 'status stopped'])
})

test('a state that the API does not tell ends a task of a person with the reason', async () => {
  const script = `$task = 'rollback'; by_api({}, 'state', ['sh'], $name); print "went on\\n";`

  const lines = await run(script, { answer: 'code 1\\nPermission check failed\\n' })

  expect(lines.at(-1)).toBe('refused: failed: Permission check failed')
})

test.each([
  ['nothing of pct', '', '1', true],
  ['all but a rollback', 'snapshot,delsnapshot', '1', true],
  ['all three steps', 'snapshot,rollback,delsnapshot', '0', false],
])('with %s in the sudo rule, the service is asked: %s', async (_title, allows, asks, goes) => {
  const script = `print "$access $by_api ", (map { goes_by_api(@$_) ? 1 : 0 } ['snapshot', $name], ['room'], ['health', 'x'], ['forget', 'before-work'], ['state', 'vzdump-lxc-101.tar']), "\\n";`

  expect(await run(script, { allows })).toEqual([`rule ${asks} ${goes ? '11000' : '00000'}`])
})
