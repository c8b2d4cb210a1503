import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { COMPOSE } from '../../functions/applications/compose.ts'
import { ASKED } from '../../functions/applications/look-problems.ts'
import { ENGINE_SOCKET } from './container.ts'

/** Docker Compose 2, which test/packages.sh keeps beside Debian's own. */
export const COMPOSE_PLUGIN = '/var/cache/ops-panel-tests/docker-compose-2.26.1-4'

/**
 * Runs a program in a mount namespace in which the engine has its usual socket ($3), root the home $1, /tmp the contents of
 * $2, and docker no plugins but those of this home.
 */
const INSIDE = `set -e
mount --bind "$1" /root
mount --bind "$2" /tmp
mount -t tmpfs run /run
: >/run/docker.sock
mount --bind "$3" /run/docker.sock
for folder in /usr/local/lib /usr/local/libexec /usr/lib /usr/libexec; do
  [ ! -d $folder/docker/cli-plugins ] || mount -t tmpfs plugins $folder/docker/cli-plugins
done
shift 3
cd /
exec "$@"`

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/**
 * A target whose engine is that of this worker, with a folder for stacks and a home with Docker Compose. The end of the test removes
 * all containers.
 */
export async function stackPlace() {
  const base = await mkdtemp(join(tmpdir(), 'stacks-'))
  const [folder, home, tmp] = [join(base, 'srv'), join(base, 'home'), join(base, 'tmp')]
  await mkdir(folder)
  await mkdir(join(home, '.docker/cli-plugins'), { recursive: true })
  await mkdir(tmp)
  await symlink(COMPOSE_PLUGIN, join(home, '.docker/cli-plugins/docker-compose'))

  /** Runs a program there, as the panel does: with the engine at its usual place, and a poor environment. */
  const run = async (words: readonly string[], env: Record<string, string> = {}): Promise<Ended> => {
    const all = ['-m', '--propagation', 'private', 'sh', '-c', INSIDE, 'sh', home, tmp, ENGINE_SOCKET, ...words]
    const child = spawn('unshare', all, {
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/nowhere', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    const [code] = await once(child, 'close')
    return { code, stdout, stderr }
  }
  const must = async (words: readonly string[], env: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await run(words, { HOME: '/root', ...env })
    if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}${stdout}`)
    return stdout.trim()
  }
  const docker = (...words: string[]) => must(['docker', ...words])
  onTestFinished(async () => {
    // The engine is this test's alone.
    const ids = await docker('ps', '-a', '-q')
    if (ids !== '') await docker('rm', '-f', '-v', ...ids.split('\n'))
    await rm(base, { recursive: true, force: true })
  })
  return {
    folder,
    home,
    run,
    docker,
    /** Writes a file below the folder of the stacks; returns its path. */
    async write(name: string, text: string) {
      const path = join(folder, name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, text)
      return path
    },
    /** Runs Docker Compose in a folder, as people do in a terminal. */
    async compose(at: string, words: readonly string[], env: Record<string, string> = {}) {
      return must(['sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh', join(folder, at), COMPOSE_PLUGIN, ...words], env)
    },
    /** The containers of a stack: service, state and image id, sorted. */
    async containers(project: string) {
      const ids = await docker('ps', '-a', '-q', '--filter', `label=com.docker.compose.project=${project}`)
      const format = '{{index .Config.Labels "com.docker.compose.service"}} {{.State.Status}} {{.Image}} {{.Id}}'
      const text = ids === '' ? '' : await docker('inspect', '--format', format, ...ids.split('\n'))
      const of = (line: string) => line.split(' ')
      const lines = text === '' ? [] : text.split('\n').sort()
      return lines.map(of).map(([service, state, image, id]) => ({ service, state, image, id }))
    },
    /** The lines of a check (compose.ts). */
    async look(shell: readonly string[] = ['sh']) {
      const text = `export PATH="$PATH:/usr/sbin:/sbin:/usr/bin:/bin"\n${ASKED}${COMPOSE}compose_look\n`
      const { stdout, stderr } = await run([...shell, '-c', text], { LEAK: 'of the host', COMPOSE_FILE: '/elsewhere' })
      return { lines: stdout.split('\n').slice(0, -1), stderr }
    },
    /** The temporary folders that are there now. */
    leftBehind: () => readdir(tmp),
  }
}

export type StackPlace = Awaited<ReturnType<typeof stackPlace>>
