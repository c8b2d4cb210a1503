import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from '@libsql/client'
import type { CuttingProxy } from './cutting-proxy.ts'
import type { SoakHost } from './host.ts'
import type { Panel } from './panel.ts'
import type { Random } from './random.ts'
import type { Weather } from './weather.ts'

export interface Scene {
  panel: Panel
  proxy: CuttingProxy
  host: SoakHost
  weather: Weather
  random: Random
  databaseUrl: string
  /** Aborted when the run has to end at once; a fault is still undone before that. */
  signal: AbortSignal
}

interface Fault {
  /** A description of the fault for the operator. */
  title: string
  /** Whether the fault ends the process. */
  deadly: boolean
  strike(scene: Scene): Promise<void>
}

export const FAULTS = {
  cut: {
    title: 'all connections of the clients are cut',
    deadly: false,
    async strike({ proxy }) {
      proxy.cut()
    },
  },
  stall: {
    title: 'the network transmits nothing',
    deadly: false,
    async strike({ proxy, weather, random, signal }) {
      const end = weather.begin('network')
      proxy.stall(true)
      await wait(random.between(1_000, 4_000), signal)
      proxy.stall(false)
      end()
    },
  },
  lock: {
    title: 'another program locks the database',
    deadly: false,
    async strike({ databaseUrl, weather, random, signal }) {
      const other = createClient({ url: databaseUrl, timeout: 5_000 })
      // No other code of this process may open the file meanwhile, because closing it would release the lock.
      const lock = await other.transaction('write')
      const end = weather.begin('lock')
      // Shorter and longer than the service's own wait of 5 s.
      await wait(random.between(500, 9_000), signal)
      await lock.rollback()
      other.close()
      end()
    },
  },
  freeze: {
    title: 'the service is suspended',
    deadly: false,
    async strike({ panel, weather, random, signal }) {
      const end = weather.begin('freeze')
      panel.freeze(true)
      await wait(random.between(1_000, 6_000), signal)
      panel.freeze(false)
      await settle(signal)
      end()
    },
  },
  'host-cut': {
    title: 'all connections to the host are cut',
    deadly: false,
    async strike({ host, weather, signal }) {
      const end = weather.begin('host')
      await host.cut()
      await settle(signal)
      end()
    },
  },
  'host-away': {
    title: 'the host refuses connections',
    deadly: false,
    async strike({ host, weather, random, signal }) {
      const end = weather.begin('host')
      await host.refuse()
      await wait(random.between(1_000, 6_000), signal)
      await host.accept()
      await settle(signal)
      end()
    },
  },
  kill: {
    title: 'the service is killed and started again',
    deadly: true,
    async strike({ panel, weather, random, signal }) {
      const end = weather.begin('down')
      await panel.kill()
      await wait(random.between(0, 3_000), signal)
      await panel.start()
      end()
    },
  },
  restart: {
    title: 'the service is stopped and started again',
    deadly: true,
    async strike({ panel, weather }) {
      const end = weather.begin('down')
      await panel.stop()
      await panel.start()
      end()
    },
  },
} as const satisfies Record<string, Fault>

export type FaultName = keyof typeof FAULTS

export function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(FAULTS, name)
}

/** Waits until all clients of a shared failure have received it. */
function settle(signal: AbortSignal): Promise<void> {
  return wait(1_000, signal)
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => {})
}
