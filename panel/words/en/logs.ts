import type { logs as fr } from '../fr/logs.ts'

export const logs: typeof fr = {
  title: 'Logs',
  note: 'The last 300 lines of the service',
  refresh: 'Refresh',
  follow: 'Refresh every 5 s',
  level: 'Severity',
  levels: { trace: 'Trace', debug: 'Debug', info: 'Information', warn: 'Warning', error: 'Error', fatal: 'Fatal' },
  atLeast: (level: string) => `${level} or graver`,
  all: 'All',
  filter: 'Filter',
  filterBy: 'Filter by word or number of a request',
  copy: 'Copy',
  copied: 'The shown lines are copied.',
  notCopied: 'Your browser has refused to copy.',
  empty: 'The service has written nothing yet.',
  noMatch: 'No line matches.',
  shown: (shown: number, all: number) => `${shown} of ${all} lines`,
  lines: 'Lines of the log',
  requestOf: (id: string) => `Show the request ${id} only`,
}
