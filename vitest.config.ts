import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** These files measure memory and delay under heavy load: they run one after another, when the others have ended. */
const HOST_ALONE = ['test/host/flood.test.ts', 'test/host/thousand-subscribers.test.ts']

/** For the suites with a real host or engine: some tests take a minute, and several on a busy machine. */
const PATIENCE_MS = 240_000

/** The longest files, longest first: one that starts last would delay the end of the run. */
const LONGEST = [
  'serve/guarded-late',
  'serve/guarded-unknown',
  'serve/killed-schedules',
  'serve/handoff',
  'modules/deploy/killed-deployment',
  'client/follow',
  'serve/frozen',
  'property/any-request',
  'document/every-operation',
  'functions/hypervisor/refused-snapshots',
  'functions/hypervisor/snapshot-answers',
  'bundle',
  'serve/tls-program',
  'serve/function-host',
  'property/no-secrets',
  'serve/slow-request',
  'docker/application-ends',
  'docker/application-runs',
  'docker/killed',
  'host/applications',
  'host/applications-agreed',
  'host/applications-hostile',
  'host/applications-kills',
  'host/protection-api',
  'host/reboot',
  'host/restarts',
  'host/protection',
  'host/protection-ends',
  'host/protection-kills',
  'host/plan-attacks',
  'host/cancel',
  'host/cancel-deaf',
  'host/protection-refused',
  'host/remedies',
  'host/two-instances',
  'host/check-states',
  'host/terminal',
  'host/self-upgrade',
  'host/settings',
  'host/terminal-sudo',
  'host/hypervisor',
  'host/login-under-attack',
  'host/database-away',
  'host/killed-service',
  'host/lost-host',
  'package/proxies',
]

/** Vitest's own order, by remembered duration or size, after the longest files. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) =>
      LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`)) + 1 || LONGEST.length + 1
    return (await super.sort(files)).sort((a, b) => place(a) - place(b))
  }
}

// .ci/run counts the tests from this file.
const report = process.env.TEST_REPORT

/** The JSON report has no errors outside of tests, so they go into a file beside it. */
function errorsBeside(file: string) {
  return {
    onTestRunEnd(_: unknown, errors: readonly { message: string }[]) {
      if (errors.length > 0) writeFileSync(`${file}.beside`, errors.map(({ message }) => `${message}\n`).join(''))
    },
  }
}

/** These measure their own process (memory, timers, writes), so each runs in a process of its own. */
const OWN_PROCESS = [
  'test/db/{brotli,connection}.test.ts',
  'test/modules/loader.test.ts',
  'test/platform/{escape-control,memory,user-limit}.test.ts',
  'test/runtime/{slow-client,task}.test.ts',
  'test/ssh/{account-lookup,channel,line-ends,pool}.test.ts',
]
/**
 * These run the service as a whole: its programs, the scripts that it sends in real shells, and every operation of its
 * API. They take most of the time of all tests without a real host, so they are a suite of their own.
 */
const WHOLE = [
  'test/{access-matrix,bundle,fetch-bundle,manifest}.test.ts',
  'test/{client,demo,document,property,serve}/**/*.test.ts',
  'test/functions/{applications,backup,hypervisor,install,managers,restarts}/**/*.test.ts',
  'test/functions/{documents/openapi*,health-command}.test.ts',
]
const WHOLE_ALONE = ['test/demo/jobs.test.ts', 'test/serve/slow-reader.test.ts']
/** These kill, freeze and replace the service some hundred times, so they are a suite of their own. */
const RESTARTS = [
  'test/modules/deploy/{killed-deployment,killed-steps}.test.ts',
  'test/serve/{frozen,guarded*,handoff,killed-schedules}.test.ts',
  'test/soak/soak.test.ts',
]
const WITH_MORE = [
  'test/host/**',
  'test/docker/**',
  'test/forge-real/**',
  'test/package/**',
  'test/panel/flows/**',
  'test/panel/host/**',
  ...RESTARTS,
]
const unit = {
  globalSetup: ['test/signing-key.ts', 'test/built.ts'],
  // Three for each core: these tests spend most of their time waiting for programs and time-outs.
  maxWorkers: 3 * availableParallelism(),
  // Only what hangs needs a bound: on a busy machine, a test of a second takes twenty.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // Awaited events arrive within milliseconds, except on a busy machine.
  expect: { poll: { timeout: 30_000 } },
}

/** These count the frames of a page, so they run when the other files have ended. */
const PANEL_ALONE = ['test/panel/flows/output-frames.test.ts']
const panel = {
  globalSetup: ['test/signing-key.ts'],
  // Files share the browser of a worker and the panel that it has built.
  isolate: false,
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // A browser runs beside the service, perhaps on a busy machine.
  expect: { poll: { timeout: 20_000 } },
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // One for each core, where vitest would leave one core idle: many tests only wait.
    maxWorkers: availableParallelism(),
    passWithNoTests: false,
    reporters: report ? ['default', ['json', { outputFile: report }], errorsBeside(report)] : ['default'],
    projects: [
      {
        test: {
          ...unit,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...WITH_MORE, ...WHOLE, ...OWN_PROCESS],
          // Files share the modules of a worker: loading the service anew takes longer than most of them.
          isolate: false,
        },
      },
      {
        test: { ...unit, name: 'unit-alone', include: OWN_PROCESS },
      },
      {
        test: {
          ...unit,
          name: 'whole',
          include: WHOLE,
          exclude: [...WITH_MORE, ...WHOLE_ALONE],
          sequence: { groupOrder: 8 },
          isolate: false,
        },
      },
      {
        test: { ...unit, name: 'whole-alone', include: WHOLE_ALONE, sequence: { groupOrder: 9 } },
      },
      {
        test: { ...unit, name: 'restarts', include: RESTARTS, sequence: { groupOrder: 7 } },
      },
      {
        test: {
          name: 'host',
          include: ['test/host/**/*.test.ts', 'test/panel/host/**/*.test.ts'],
          exclude: HOST_ALONE,
          // One real host for each (test/host/run.sh).
          maxWorkers: Number(process.env.RIG_COUNT ?? 1),
          sequence: { groupOrder: 1 },
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
        },
      },
      {
        test: {
          name: 'host-alone',
          include: HOST_ALONE,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
        },
      },
      {
        test: {
          ...panel,
          name: 'panel',
          include: ['test/panel/flows/**/*.test.ts'],
          exclude: PANEL_ALONE,
          // Each has a browser and a service beside it.
          maxWorkers: 2,
          sequence: { groupOrder: 5 },
        },
      },
      {
        test: { ...panel, name: 'panel-alone', include: PANEL_ALONE, maxWorkers: 1, sequence: { groupOrder: 6 } },
      },
      {
        test: {
          name: 'package',
          include: ['test/package/**/*.test.ts'],
          // One host for each (test/package/run.sh); one file alone uses the machine with systemd.
          maxWorkers: Number(process.env.RIG_COUNT ?? 1),
          sequence: { groupOrder: 4 },
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
        },
      },
      {
        test: {
          name: 'docker',
          globalSetup: ['test/signing-key.ts'],
          include: ['test/docker/**/*.test.ts'],
          // One engine for each (test/docker/run.sh).
          maxWorkers: Number(process.env.DOCKER_COUNT ?? 1),
          sequence: { groupOrder: 3 },
          testTimeout: PATIENCE_MS,
          hookTimeout: PATIENCE_MS,
        },
      },
      {
        test: {
          name: 'forge-real',
          globalSetup: ['test/signing-key.ts'],
          include: ['test/forge-real/**/*.test.ts'],
          sequence: { groupOrder: 10 },
          testTimeout: PATIENCE_MS,
          // A thousand repositories are made first.
          hookTimeout: 2 * PATIENCE_MS,
        },
      },
    ],
  },
})
