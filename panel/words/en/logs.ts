import type { logs as fr } from '../fr/logs.ts'

export const logs: typeof fr = {
  title: 'Logs',
  note: 'The last 300 log lines of the service',
  refresh: 'Refresh',
  follow: 'Refresh every 5 s',
  level: 'Severity',
  levels: { trace: 'Trace', debug: 'Debug', info: 'Information', warn: 'Warning', error: 'Error', fatal: 'Fatal' },
  atLeast: (level: string) => `${level} or higher`,
  all: 'All',
  filter: 'Filter',
  filterBy: 'Filter by word or request ID',
  copy: 'Copy',
  copied: 'Shown lines copied.',
  notCopied: 'Your browser blocked copying.',
  empty: 'The service has logged nothing yet.',
  noMatch: 'No line matches.',
  shown: (shown: number, all: number) => `${shown} of ${all} lines`,
  lines: 'Log lines',
  requestOf: (id: string) => `Show only request ${id}`,
}
