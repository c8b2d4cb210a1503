import { readFile, writeFile } from 'node:fs/promises'

/** The memory of a process in MiB, counted by the kernel, which misses no peak between two readings. */
export async function memory(pid: number): Promise<{ now: number; peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return { now: mebibytes(status, 'VmRSS'), peak: mebibytes(status, 'VmHWM') }
}

/** The memory that a process has written to, in MiB, without the pages of its executable file. */
export async function privateMemory(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  return mebibytes(rollup, 'Private_Dirty')
}

/** Resets the peak to the current use. */
export async function forgetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5')
}

function mebibytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) / 1024
}
