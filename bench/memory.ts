import { readFile, writeFile } from 'node:fs/promises'

/** Memory that a process holds, in MiB; the kernel's own count, which misses no peak between two looks. */
export async function memory(pid: number): Promise<{ now: number; peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return { now: mebibytes(status, 'VmRSS'), peak: mebibytes(status, 'VmHWM') }
}

/** What a process has written to, in MiB: pages of its file that no other process reads just now are not its own. */
export async function privateMemory(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  return mebibytes(rollup, 'Private_Dirty')
}

/** Lets the peak begin anew at what is held now. */
export async function forgetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5')
}

function mebibytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) / 1024
}
