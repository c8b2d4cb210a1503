import { expect, test } from 'vitest'
import { readOptions } from './options.ts'

test('a run has 200 clients for ten minutes with all faults by default', () => {
  const usual = readOptions([], {})

  expect(usual).toMatchObject({ seconds: 600, clients: 200, json: false })
  expect(usual?.faults).toContain('kill')
  const environment = { SOAK_SECONDS: '60', SOAK_CLIENTS: '40', SOAK_SEED: '7', SOAK_FAULTS: 'lock,kill' }
  const asked = { seconds: 60, clients: 40, seed: 7, faults: ['lock', 'kill'], json: false }
  expect(readOptions([], environment)).toEqual(asked)
  expect(readOptions(['--seconds', '20', '--json'], environment)).toEqual({ ...asked, seconds: 20, json: true })
  expect(readOptions(['--help'], environment)).toBeUndefined()
})

test.each([['--seconds', 'long'], ['--faults', 'lock,rain'], ['--clients', '0'], ['--speed']])(
  'invalid options are refused: %s %s',
  (...args) => {
    expect(() => readOptions(args, {})).toThrow(TypeError)
  },
)
