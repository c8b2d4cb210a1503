import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

// .ci/run counts the tests from this file.
const report = process.env.TEST_REPORT

export default defineConfig({
  test: {
    // One for each core, where vitest would leave one core idle: many tests only wait.
    maxWorkers: availableParallelism(),
    passWithNoTests: false,
    reporters: report ? ['default', ['json', { outputFile: report }]] : ['default'],
    projects: [
      {
        test: {
          name: 'unit',
          globalSetup: ['test/signing-key.ts'],
          include: ['test/**/*.test.ts'],
          exclude: ['test/host/**', 'test/docker/**', 'test/package/**', 'test/panel/flows/**', 'test/panel/host/**'],
          testTimeout: 15_000,
          // What is awaited comes in milliseconds, except on a machine that others load.
          expect: { poll: { timeout: 5_000 } },
        },
      },
      {
        test: {
          name: 'host',
          include: ['test/host/**/*.test.ts', 'test/panel/host/**/*.test.ts'],
          // One real host, shared by all.
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'panel',
          globalSetup: ['test/signing-key.ts'],
          include: ['test/panel/flows/**/*.test.ts'],
          // Each has a browser and a service beside it.
          maxWorkers: 2,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // A browser beside the service, on a machine that others load.
          expect: { poll: { timeout: 20_000 } },
        },
      },
      {
        test: {
          name: 'package',
          include: ['test/package/**/*.test.ts'],
          // They install the same package on the same machines.
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'docker',
          globalSetup: ['test/signing-key.ts'],
          include: ['test/docker/**/*.test.ts'],
          // One engine, which copies the whole image for each container.
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
