import type { logs as fr } from '../fr/logs.ts'

export const logs: typeof fr = {
  title: 'Logs',
}
