import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NOT_AGREED, NOT_BEGUN, RUN_SCRIPT, SOURCE_CHANGED } from '../../../functions/applications/run-script.ts'
import { MOST_FILES } from '../../../functions/applications/fetch-script.ts'
import { MOST_REFUSED } from '../../../functions/applications/source.ts'
import { protectedCommand } from '../../../functions/protection/protected-run.ts'
import { DEFAULT_PROTECTION, type Protection } from '../../../functions/protection/protection.ts'
import { readNotes } from '../../../functions/protection/run-notes.ts'
import { startCommands } from '../../../jobs/host-job.ts'
import { elevate, quote, script } from '../../../ssh/command.ts'
import { programs } from '../programs.ts'

const NAME = 'panel-1772366400-k3x9q2pa'
const PLACE = { id: '101', name: NAME, elevation: 'root' } as const

/** The container tool of a container whose packages never change, and in which a service may stop. */
const PCT = `
case $1 in
  snapshot | delsnapshot | rollback)
    echo "$1 $3" >>"$FOLDER/steps"
    [ "$1" != rollback ] || rm -f "$FOLDER/broken"
    ;;
  listsnapshot) echo ' \`-> current' ;;
  status) echo 'status: running' ;;
  exec)
    shift 3
    [ "$4" = ops-panel-health ] || exec "$@"
    printf 'packages\\tdpkg\\tgood\\tsame\\n'
    [ -e "$FOLDER/broken" ] || printf 'unit\\tapp.service\\tgood\\tactive running\\n'
    echo end
    ;;
esac
exit 0`

/** Runs a protected command to its end, with real Perl. */
async function runProtected(of: 'upgrade' | 'application', text: string, policy: Partial<Protection> = {}) {
  const { folder, env } = await programs({ pct: PCT })
  const protection = { ...DEFAULT_PROTECTION, settle_seconds: 1, ...policy }
  const { command, program = '' } = protectedCommand(PLACE, protection, script(text, 'x'), { of })
  const place = join(folder, 'job')
  mkdirSync(place)
  writeFileSync(join(place, 'program'), program.replaceAll('/usr/sbin/pct', join(folder, 'pct')))
  writeFileSync(join(place, 'process'), `${process.pid} 0\n`)
  const notes = openSync(join(place, 'notes'), 'a')
  const stdio = ['ignore', 'pipe', 'pipe', ...Array(6).fill('ignore'), notes]
  const [perl, ...words] = command
  const { status, stderr } = spawnSync(perl, [join(place, 'program'), ...words], { env, stdio, encoding: 'utf8' })
  closeSync(notes)
  expect(stderr).toBe('')
  const steps = spawnSync('cat', [join(folder, 'steps')], { encoding: 'utf8' })
    .stdout.split('\n')
    .slice(0, -1)
  const report = readNotes(readFileSync(join(place, 'notes'), 'utf8').split('\n').slice(0, -1))
  return { status, steps, report }
}

test('an application that has changed no package is compared, and keeps its snapshot', async () => {
  const application = await runProtected('application', 'exit 0')
  const upgrade = await runProtected('upgrade', 'exit 0')

  expect(application).toMatchObject({
    status: 0,
    steps: [`snapshot ${NAME}`],
    report: { outcome: 'upgraded', worse: [] },
  })
  expect(upgrade).toMatchObject({
    status: 0,
    steps: [`snapshot ${NAME}`, `delsnapshot ${NAME}`],
    report: { outcome: 'nothing_to_do' },
  })
})

test('an application whose service is gone after its update has regressed, and goes back where its policy says so', async () => {
  const breaks = ': >"$FOLDER/broken"'
  const { report } = await runProtected('application', breaks)
  const back = await runProtected('application', breaks, { on_failure: 'rollback' })

  expect(report).toMatchObject({ outcome: 'regressed', worse: [['unit', 'app.service', 'active running', null]] })
  expect(back.steps).toEqual([`snapshot ${NAME}`, `rollback ${NAME}`])
}, 60_000)

test('a script that fails is no update, although no package has changed', async () => {
  const { status, steps, report } = await runProtected('application', 'exit 77')

  expect([status, report.outcome]).toEqual([77, 'failed'])
  expect(steps).toEqual([`snapshot ${NAME}`])
})

test.each([SOURCE_CHANGED, NOT_BEGUN, NOT_AGREED])(
  'an update that was not begun, with the code %i, is not rolled back, and its snapshot goes',
  async (code) => {
    const { status, steps, report } = await runProtected('application', `exit ${code}`, { on_failure: 'rollback' })
    const broken = await runProtected('application', `: >"$FOLDER/broken"; exit ${code}`, { on_failure: 'rollback' })

    expect([status, report.outcome]).toEqual([code, 'failed'])
    expect(steps).toEqual([`snapshot ${NAME}`, `delsnapshot ${NAME}`])
    // The code is what a container says of itself; what is seen of it counts more.
    expect(broken.steps).toEqual([`snapshot ${NAME}`, `rollback ${NAME}`])
  },
  60_000,
)

test('the longest run fits into one argument', () => {
  const files = Array.from({ length: MOST_FILES }, () => ['a'.repeat(64), `https://${'a'.repeat(292)}`]).flat()
  const refused = Array(MOST_REFUSED).fill(`${'a'.repeat(299)}*`)
  const run = script(RUN_SCRIPT, 'ops-panel-application', 'a'.repeat(200), String(refused.length), ...refused, ...files)
  const words = { kind: 'command' as const, command: Array(4).fill("'".repeat(500)) }
  const units = Array(9).fill({ kind: 'unit', name: '\\'.repeat(190) })
  for (const elevation of ['root', 'password', 'rule'] as const) {
    const place = { ...PLACE, elevation }
    const policy = { ...DEFAULT_PROTECTION, probes: [words, ...units] }
    const prepared = protectedCommand(place, policy, ['/usr/sbin/pct', 'exec', '101', '--', ...run], {
      of: 'application',
    })
    for (const command of startCommands({ name: 'a'.repeat(32), mostOutput: 2 ** 40 }, prepared))
      expect(Buffer.byteLength(quote(elevate(command, elevation, 'script')))).toBeLessThan(131_072)
  }
})
