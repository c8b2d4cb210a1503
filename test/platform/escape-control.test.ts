import { expect, test, vi } from 'vitest'
import { createLog, terminalFormat } from '../../platform/log.ts'
import { complain, print } from '../../cli/terminal.ts'
import { escapeControl, escapeControlJson, escapeControlLines } from '../../platform/escape-control.ts'

test.each([
  ['\u001b[31mred', '\\u{1b}[31mred'],
  ['a\nb\tc\r', 'a\\u{a}b\\u{9}c\\u{d}'],
  ['\0\u007f\u009b', '\\u{0}\\u{7f}\\u{9b}'],
  ['\u202egnp\u2066\u200b\u2028', '\\u{202e}gnp\\u{2066}\\u{200b}\\u{2028}'],
  ['\u{e0041}', '\\u{e0041}'],
  ['\ud800', '\\u{d800}'],
  ['zoë 张三 DOM\\bob « x » 🙂', 'zoë 张三 DOM\\bob « x » 🙂'],
])('%j is shown as %s', (text, shown) => {
  expect(escapeControl(text)).toBe(shown)
})

test('a text of several lines keeps its line breaks and tabs, and no other control character', () => {
  expect(escapeControlLines('a\n\tb\r\u001b[1A')).toBe('a\n\tb\\u{d}\\u{1b}[1A')
})

test('an escaped line of JSON has the same value, in visible characters', () => {
  const line = `${JSON.stringify({ name: '\u009b2J\u202e\u{e0041}é' })}\n`

  const shown = escapeControlJson(line)

  expect(shown).toMatch(/^[^\p{Cc}\p{Cf}]*\n$/u)
  expect(JSON.parse(shown)).toEqual(JSON.parse(line))
})

test.each([true, false])('a log that is pretty: %s shows nothing that a terminal obeys', async (pretty) => {
  const written: string[] = []
  const format = pretty ? await terminalFormat() : undefined
  const { log, lines } = createLog({ level: 'info', format, write: (line) => written.push(line) })

  log.info({ username: '\u001b[2Jroot\n\u202e', nested: { text: '\u009b' } }, 'hello\n\u001b]0;x\u0007')
  log.error({ err: new Error('first\n\u001b[2J\nsecond') }, 'failed')

  // The colours of the log itself.
  const [first = '', ...coloured] = written.join('').split('\u001b')
  for (const piece of coloured) expect(piece).toMatch(/^\[\d+m/)
  const text = [first, ...coloured].join('')
  expect(text.replaceAll('\n', '')).toMatch(/^[^\p{Cc}\p{Cf}]*$/u)
  expect(text).toContain('root')
  if (!pretty) expect(written).toHaveLength(2)
  expect(lines()).toHaveLength(2)
})

test('output and errors of a command are escaped', () => {
  const written: unknown[] = []
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(text) > 0)
  const err = vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(text) > 0)
  try {
    print('a\u001b[2J\n')
    complain(0, 'b\u202e')
  } finally {
    out.mockRestore()
    err.mockRestore()
    process.exitCode = undefined
  }

  expect(written).toEqual(['a\\u{1b}[2J\n', 'ops-panel : b\\u{202e}\n'])
})
