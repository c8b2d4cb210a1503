import { execFileSync, spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { HEALTH } from '../../../functions/protection/health-script.ts'
import { perlText } from '../../../functions/protection/protected-script.ts'
import { PROTECTED } from '../../../functions/protection/protected-script.ts'
import { ROOM, STATE } from '../../../functions/protection/step-scripts.ts'

const perl = (text: string) => execFileSync('perl', ['-', 'x'], { input: text, encoding: 'utf8' })

test.each([
  ['HEALTH', HEALTH],
  ['ROOM', ROOM],
  ['STATE', STATE],
  ['characters that mean something in Perl', `$x @{[ die ]} \\ \\\\ \\n %h ' " \` } ) __END__\n=pod\n\0é\t\n`],
  [
    'lines that are nearly the last one',
    `OPS_PANEL_TEXT \n OPS_PANEL_TEXT\nOPS_PANEL_TEXT;\nxOPS_PANEL_TEXT\nOPS_PANEL_TEX\n`,
  ],
  ['a line end alone', '\n'],
])('a text in a program stays as it is: %s', (_what, text) => {
  expect(perl(`${perlText('text', text)}print $text;`)).toBe(text)
})

test.each([
  '',
  'x',
  'OPS_PANEL_TEXT\n',
  'x\nOPS_PANEL_TEXT\ny\n',
  'x\nOPS_PANEL_TEXT\n',
  'OPS_PANEL_TEXT\r\n',
  'x\r\n',
])('a text that would not stay as it is, is refused: %j', (text) => {
  expect(() => perlText('text', text)).toThrow(RangeError)
})

test('the program of a protected run has the texts of its scripts, and compiles', () => {
  const texts = { health_text: HEALTH, room_text: ROOM, state_text: STATE }
  for (const [variable, text] of Object.entries(texts)) expect(PROTECTED).toContain(perlText(variable, text))
  expect(spawnSync('perl', ['-c', '-'], { input: PROTECTED, encoding: 'utf8' }).stderr).toBe('- syntax OK\n')
})
