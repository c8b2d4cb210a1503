import { defineConfig } from 'vitest/config'

// .ci/run counts the tests from this file.
const report = process.env.TEST_REPORT

export default defineConfig({
  test: {
    passWithNoTests: false,
    reporters: report ? ['default', ['json', { outputFile: report }]] : ['default'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/host/**'],
          testTimeout: 15_000,
        },
      },
      {
        test: {
          name: 'host',
          include: ['test/host/**/*.test.ts'],
          // One real host, shared by all.
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
