import { spawn } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../db/folder.ts'

/** Makes programs that the shell finds before this machine's own, each as the text of a script for sh. */
export async function programs(texts: Record<string, string>) {
  const folder = await temporaryFolder()
  for (const [name, text] of Object.entries({ dpkg: 'exit 0', sudo: 'shift; exec "$@"', ...texts })) {
    await writeFile(join(folder, name), `#!/bin/sh\n${text}\n`)
    await chmod(join(folder, name), 0o755)
  }
  return { folder, env: { PATH: `${folder}:${process.env.PATH}`, FOLDER: folder } }
}

/**
 * Runs a script of the host in this machine's shell. Resolves at its end, also while a process that it has left behind
 * keeps its output open; `pieces` has the output as it came, with the milliseconds since the start.
 */
export async function shell(env: NodeJS.ProcessEnv, text: string, ...args: string[]) {
  const start = Date.now()
  const pieces: { text: string; at: number }[] = []
  const child = spawn('sh', ['-c', text, 'name', ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  child.stdout.setEncoding('utf8').on('data', (data: string) => pieces.push({ text: data, at: Date.now() - start }))
  const status = await new Promise<number | null>((resolve) => child.on('exit', resolve))
  await new Promise((resolve) => setImmediate(resolve))
  child.stdout.destroy()
  const lines = pieces
    .map((piece) => piece.text)
    .join('')
    .split('\n')
    .slice(0, -1)
  return { status, lines, pieces, ms: Date.now() - start }
}
