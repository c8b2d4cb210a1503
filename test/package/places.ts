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

/** Where a package is installed; whoever types there is root. */
export interface Place {
  /** Runs a shell script; its stdout, without the line end. Rejects when it fails. */
  sh(script: string): Promise<string>
  /** What a command ends with, and prints on both streams. */
  type(command: string): Promise<{ code: number; text: string }>
  /** Installs a package as somebody who wants to be asked nothing; what that prints. */
  install(deb: string): Promise<string>
}

/** The rig's host: no process of systemd's runs there. */
export const host = place(fileURLToPath(new URL('../host/rig.sh', import.meta.url)), 'in', 'host')

/** A machine whose process 1 is systemd, beside the rig's host on the same network. */
export const machine = place(MACHINE, 'in')

/** A new one. */
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
  return {
    sh,
    async type(command) {
      const text = await sh(`(${command}) 2>&1 </dev/null || code=$?; echo "=\${code:-0}"`)
      const at = text.lastIndexOf('=')
      return { code: Number(text.slice(at + 1)), text: text.slice(0, at) }
    },
    async install(deb) {
      const copy = spawn('bash', [...enter, 'sh', '-c', `cat >${PACKAGE}`], {
        stdio: ['pipe', 'ignore', 'inherit'],
        env: RIG_ENVIRONMENT,
      })
      const copied = once(copy, 'close')
      await pipeline(createReadStream(deb), copy.stdin)
      await copied
      return sh(`DEBIAN_FRONTEND=noninteractive dpkg --force-confdef --force-confold -i ${PACKAGE} 2>&1 </dev/null`)
    },
  }
}
