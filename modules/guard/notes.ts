/*
 * The guard leaves two small files in the data directory for the next start: why the service ended, and how its last
 * starts went. It writes each in one step, also in a process that is about to end. A file that is broken or too large is
 * removed and counts as missing.
 */

import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, lstatSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'

/** The most characters of a place or a message. */
export const NOTE_TEXT = 300

/**
 * Why the service ended. `module` is the culprit, null when none is known; `release` is `updated_at` of its record when
 * it was loaded. `place` is the file and line of the code, empty when unknown.
 *
 * `loop`: code of the module never returned. `blocked`: a system call never returned. `hang`: the service's own code did
 * not return. `memory`: the module held most of the memory. `exit`: it ended the process. `error`: it threw an error that
 * nobody caught.
 *
 * `trial` is the deployment that the process tried, empty in others: a change that fails is rolled back, so no other start
 * may take such a note for its own.
 */
export const Note = z.object({
  what: z.enum(['loop', 'blocked', 'hang', 'memory', 'exit', 'error']),
  module: z.string().max(63).nullable(),
  release: z.string().max(40).nullable(),
  place: z.string().max(NOTE_TEXT),
  message: z.string().max(NOTE_TEXT),
  trial: z.string().max(100).default(''),
})
export type Note = z.infer<typeof Note>
/** The end of a process, whichever it is. */
export type End = Omit<Note, 'trial'>

/**
 * How the last starts went. `machine` is the boot of the machine; `open` says that a start has neither ended in an orderly
 * way nor run for long; `quick` counts such ends in a row. `suspects` are the modules that were left out one after another
 * until `until`, the last of them now; `all` says that all are left out. `blocked` is the time until which another
 * service that is blocked for an unknown reason counts as a repetition.
 */
export const Runs = z.object({
  machine: z.string().max(100),
  open: z.boolean(),
  quick: z.int().min(0).max(1_000),
  suspects: z.array(z.object({ id: z.string().max(63), at: z.string().max(40) })).max(1_000),
  until: z.string().max(40),
  all: z.boolean(),
  blocked: z.string().max(40).default(''),
})
export type Runs = z.infer<typeof Runs>

export const NO_RUNS: Runs = { machine: '', open: false, quick: 0, suspects: [], until: '', all: false, blocked: '' }

/** The path of the note about an end. */
export const endFile = (dataDir: string) => join(dataDir, 'modules-end.json')
/** The path of the record of the last starts. */
export const runsFile = (dataDir: string) => join(dataDir, 'modules-runs.json')

const MAX_BYTES = 256 * 1024

/** Returns what a file says; undefined when it is missing or broken. */
export function readRecord<record>(file: string, schema: z.ZodType<record>): record | undefined {
  try {
    const found = lstatSync(file, { throwIfNoEntry: false })
    if (!found) return undefined
    if (found.isFile() && found.size <= MAX_BYTES) {
      const { success, data } = schema.safeParse(JSON.parse(readFileSync(file, 'utf8')))
      if (success) return data
    }
  } catch {
    // It is removed below.
  }
  removeRecord(file)
  return undefined
}

export function removeRecord(file: string): void {
  rmSync(file, { recursive: true, force: true })
}

/** Forgets how earlier starts went, after an end that says nothing about modules. */
export function forgetEnds(dataDir: string): void {
  for (const file of [endFile(dataDir), runsFile(dataDir)]) removeRecord(file)
}

/** Replaces a file, accessible to the owner only, in one step and before it returns. */
export function writeRecord(file: string, record: object): void {
  const fresh = `${file}.${randomUUID()}`
  try {
    const handle = openSync(fresh, 'wx', 0o600)
    try {
      writeSync(handle, JSON.stringify(record))
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(fresh, file)
  } finally {
    rmSync(fresh, { force: true })
  }
}
