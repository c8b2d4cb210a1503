import { expect, test } from 'vitest'
import { logLine, matchesLog } from '../../../panel/nouns/log-line.ts'
import { createLog } from '../../../runtime/log.ts'

/** A line as the service writes it. */
function written(write: (log: ReturnType<typeof createLog>['log']) => void): string {
  const lines: string[] = []
  const { log } = createLog({ level: 'trace', pretty: false, write: (line) => void lines.push(line) })
  write(log)
  return lines[0] ?? ''
}

test('a line of the service is taken apart', () => {
  const line = logLine(written((log) => log.warn({ id: 'r-1', status: 503, path: '/x' }, 'request')))
  expect(line).toMatchObject({ level: 'warn', message: 'request', id: 'r-1', rest: 'status=503 path=/x' })
  expect(Date.parse(line.time ?? '')).not.toBeNaN()
})

test('what is no JSON is all message', () => {
  for (const raw of ['Segmentation fault', '', 'null', '12'])
    expect(logLine(raw)).toMatchObject({ level: 'info', message: raw, time: undefined, id: undefined, rest: '', raw })
})

test('a filter has all words somewhere in the line, and lines that are as grave or graver', () => {
  const line = logLine(written((log) => log.warn({ id: 'r-1' }, 'The host does not answer')))
  expect(matchesLog(line, 'warn', 'HOST r-1')).toBe(true)
  expect(matchesLog(line, 'trace', '')).toBe(true)
  expect(matchesLog(line, 'error', '')).toBe(false)
  expect(matchesLog(line, 'warn', 'host absent')).toBe(false)
})
