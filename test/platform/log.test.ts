import { expect, test } from 'vitest'
import { createLog, terminalFormat } from '../../platform/log.ts'

async function recorded({ level = 'debug', pretty = false } = {}) {
  const written: string[] = []
  const format = pretty ? await terminalFormat() : undefined
  return { ...createLog({ level, format, write: (line) => written.push(line) }), written }
}

const SECRET = 'hunter2-hunter2'
const NAMES = [
  'password',
  'current_password',
  'ssh_password',
  'token',
  'access_token',
  'refresh_token',
  'authorization',
  'cookie',
  'secret',
  'stdin',
]

test.each([false, true])(
  'no secret is logged, at the top of an entry or one level below, nor its length (pretty: %s)',
  async (pretty) => {
    const { log, lines, written } = await recorded({ pretty })

    for (const name of NAMES) {
      log.info({ [name]: SECRET }, 'top')
      log.error({ body: { [name]: SECRET } }, 'below')
      log.warn({ [name]: [SECRET] }, 'list')
    }

    const all = [...written, ...lines()].join('\n')
    expect(all).not.toContain(SECRET)
    expect(all).toContain('[masqué]')
    expect(all).not.toContain('caractères')
    expect(written).toHaveLength(NAMES.length * 3)
  },
)

test('the headers of a request can be logged safely', async () => {
  const { log, written } = await recorded()

  log.info(
    { headers: { authorization: `Bearer ${SECRET}`, cookie: `svc_refresh=${SECRET}`, host: 'panel' } },
    'request',
  )

  expect(written.join('')).not.toContain(SECRET)
  expect(written.join('')).toContain('"host":"panel"')
})

test('a line is JSON with level, time and message, and ends with a newline', async () => {
  const { log, written } = await recorded()

  log.info({ job: '1' }, 'job ended\nwith a newline')

  expect(written).toHaveLength(1)
  expect(written[0]).toMatch(/^\{.*\}\n$/)
  expect(JSON.parse(written[0] ?? '')).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/),
    job: '1',
    msg: 'job ended\nwith a newline',
  })
})

test('lines below the level are neither written nor kept', async () => {
  const { log, lines, written } = await recorded({ level: 'warn' })

  log.info('quiet')
  log.warn('loud')

  expect(written).toHaveLength(1)
  expect(lines()).toHaveLength(1)
})

test('the newest 300 lines are kept, oldest first', async () => {
  const { log, lines } = await recorded()

  for (let round = 0; round < 1000; round += 1) log.info({ round }, 'line')

  const rounds = lines().map((line) => JSON.parse(line).round)
  expect(rounds).toEqual(Array.from({ length: 300 }, (_, at) => 700 + at))
})

test('the returned lines are a copy', async () => {
  const { log, lines } = await recorded()
  log.info('one')

  lines().push('forged')

  expect(lines()).toHaveLength(1)
})

test.each([false, true])('an API token is masked wherever it is, also in an address (pretty: %s)', async (pretty) => {
  const { log, lines, written } = await recorded({ pretty })
  const token = `opt_${'aZ0-_'.repeat(8)}xyz`

  log.info({ path: `/api/auth/tokens/${token}` }, 'request')
  log.error({ err: new Error(`refused: ${token}`) }, `two: ${token}${token}`)

  const all = [...written, ...lines()].join('\n')
  expect(all).not.toContain(token.slice(4))
  expect(all).toContain('/api/auth/tokens/[masqué]')
  expect(all).toContain('two: [masqué][masqué]')
})
