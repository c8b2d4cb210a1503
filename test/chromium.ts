import { existsSync } from 'node:fs'

/**
 * The Chromium of the tests, the pictures and the benchmark. Its headless shell takes a third less CPU than the whole
 * browser. CHROMIUM names another one.
 */
export const CHROMIUM =
  process.env.CHROMIUM ??
  (existsSync('/usr/bin/chromium-headless-shell') ? '/usr/bin/chromium-headless-shell' : '/usr/bin/chromium')
