import type { containers as fr } from '../fr/containers.ts'

export const containers: typeof fr = {
  title: 'Containers',
  running: 'Running',
  stopped: 'Stopped',
  locked: (lock: string) => `Locked (${lock})`,
}
