import { expect, test } from 'vitest'
import { logLine, matchesLog } from '../../../panel/nouns/log-line.ts'
import { createLog } from '../../../platform/log.ts'

/** A line as the service writes it. */
function written(write: (log: ReturnType<typeof createLog>['log']) => void): string {
  const lines: string[] = []
  const { log } = createLog({ level: 'trace', write: (line) => void lines.push(line) })
  write(log)
  return lines[0] ?? ''
}

test('a log line of the service is parsed', () => {
  const line = logLine(written((log) => log.warn({ id: 'r-1', status: 503, path: '/x' }, 'request')))
  expect(line).toMatchObject({ level: 'warn', message: 'request', id: 'r-1', rest: 'status=503 path=/x' })
  expect(Date.parse(line.time ?? '')).not.toBeNaN()
})

test('a line that is not JSON becomes the message', () => {
  for (const raw of ['Segmentation fault', '', 'null', '12'])
    expect(logLine(raw)).toMatchObject({ level: 'info', message: raw, time: undefined, id: undefined, rest: '', raw })
})

test('a filter keeps lines that contain all words and have at least the level', () => {
  const line = logLine(written((log) => log.warn({ id: 'r-1' }, 'The host does not answer')))
  expect(matchesLog(line, 'warn', 'HOST r-1')).toBe(true)
  expect(matchesLog(line, 'trace', '')).toBe(true)
  expect(matchesLog(line, 'error', '')).toBe(false)
  expect(matchesLog(line, 'warn', 'host absent')).toBe(false)
})
