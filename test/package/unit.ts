import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { parseEnvironmentFile } from '../../serve/installed.ts'
import { isHealthy } from '../host/service.ts'
import type { Place } from './places.ts'

/** A service that was started like its installed unit. */
export interface Started {
  url: string
  /** The pid, on the host, of the process that systemd would watch. */
  pid: string
  log(): Promise<string>
  /** Stops the service like `systemctl stop`; rejects when it does not end with code 0. */
  stop(): Promise<void>
}

/** The limit of the unit. */
const STOP_MS = 20_000

/**
 * Starts the service as systemd would: with the account, its capability, the folder, the environment in the order of
 * its lines, and SYSTEMD_EXEC_PID, by which the service detects systemd.
 */
export async function startByUnit(place: Place): Promise<Started> {
  const unit = await place.sh('cat /usr/lib/systemd/system/ops-panel.service')
  const all = (name: string) => Array.from(unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm')), ([, value = '']) => value)
  const one = (name: string): string => {
    const [value, ...more] = all(name)
    if (value === undefined || more.length > 0) throw new Error(`the unit has ${more.length + 1} of ${name}, or none`)
    return value
  }
  const file = await place.sh(`cat ${one('EnvironmentFile').replace(/^-/, '')}`)
  const environment = { ...parseEnvironmentFile(all('Environment').join('\n')), ...parseEnvironmentFile(file) }
  const capability = one('AmbientCapabilities').toLowerCase().replace('cap_', '+')
  const privileges = [
    `--reuid=${one('User')} --regid=${one('Group')} --init-groups --no-new-privs`,
    `--inh-caps=-all,${capability} --ambient-caps=-all,${capability} --bounding-set=-all,${capability}`,
  ].join(' ')
  const words = Object.entries(environment).map(([name, value]) => `'${name}=${value.replaceAll("'", `'\\''`)}'`)
  await place.sh(`cat >/root/start <<'END'
echo $$ >/root/pid
cd ${one('WorkingDirectory')}
umask ${one('UMask')}
exec env -i PATH="$PATH" SYSTEMD_EXEC_PID=$$ ${words.join(' ')} setpriv ${privileges} ${one('ExecStart')}
END`)
  await place.sh('(setsid sh -c "sh /root/start; echo \\$? >/root/ended" </dev/null >/root/log 2>&1 &)')
  const url = `http://127.0.0.1:${environment.PANEL_PORT ?? 8080}`
  const log = () => place.sh('cat /root/log')
  await expect.poll(() => isHealthy(url), { timeout: 30_000, message: await log() }).toBe(true)
  const pid = await place.sh('cat /root/pid')
  return {
    url,
    pid,
    log,
    async stop() {
      await place.sh(`rm -f /root/ended; kill -TERM ${pid}`)
      const since = performance.now()
      for (;;) {
        const code = await place.sh('cat /root/ended 2>/dev/null || true')
        if (code === '0') return
        if (code !== '' || performance.now() - since > STOP_MS)
          throw new Error(`the service ended with ${code || 'nothing'}:\n${await log()}`)
        await pause(100)
      }
    },
  }
}
