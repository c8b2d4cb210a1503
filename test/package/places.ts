import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { RIG_ENVIRONMENT } from '../host/rig.ts'

const run = promisify(execFile)
const MACHINE = fileURLToPath(new URL('machine.sh', import.meta.url))
const PACKAGE = '/root/ops-panel.deb'

/** A host on which a package is installed, and on which commands run as root. */
export interface Place {
  /** Runs a shell script; returns its stdout without the line end. Rejects when it fails. */
  sh(script: string): Promise<string>
  /** Runs a command; returns its exit code and the output of both streams. */
  type(command: string): Promise<{ code: number; text: string }>
  /** Copies a file of this machine to a path there. */
  copy(file: string, path: string): Promise<void>
  /** Installs a package without questions; returns the output. */
  install(deb: string): Promise<string>
}

/** The rig's host, which has no systemd. */
export const host = place(fileURLToPath(new URL('../host/rig.sh', import.meta.url)), 'in', 'host')

/** A machine whose process 1 is systemd, on the same network as the rig's host. */
export const machine = place(MACHINE, 'in')

/** Starts a new machine. */
export async function startMachine(): Promise<void> {
  await run('bash', [MACHINE, 'up'], { env: RIG_ENVIRONMENT })
}

export async function endMachine(): Promise<void> {
  await run('bash', [MACHINE, 'down'], { env: RIG_ENVIRONMENT })
}

function place(...enter: string[]): Place {
  const sh = async (script: string) => {
    const { stdout } = await run('bash', [...enter, 'sh', '-ec', script], { maxBuffer: 2 ** 24, env: RIG_ENVIRONMENT })
    return stdout.trimEnd()
  }
  const copy = async (file: string, path: string) => {
    const to = spawn('bash', [...enter, 'sh', '-c', `cat >${path}`], {
      stdio: ['pipe', 'ignore', 'inherit'],
      env: RIG_ENVIRONMENT,
    })
    const copied = once(to, 'close')
    await pipeline(createReadStream(file), to.stdin)
    await copied
  }
  return {
    sh,
    async type(command) {
      const text = await sh(`(${command}) 2>&1 </dev/null || code=$?; echo "=\${code:-0}"`)
      const at = text.lastIndexOf('=')
      return { code: Number(text.slice(at + 1)), text: text.slice(0, at) }
    },
    copy,
    async install(deb) {
      await copy(deb, PACKAGE)
      return sh(`DEBIAN_FRONTEND=noninteractive dpkg --force-confdef --force-confold -i ${PACKAGE} 2>&1 </dev/null`)
    },
  }
}
