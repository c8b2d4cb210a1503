import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { FoundApplication } from '../../../functions/applications/application.ts'
import { composeReport } from '../../../functions/applications/compose-report.ts'
import { sha } from './compose-stand-in.ts'

const STACK = `project|web|/opt/web/compose.yml|${'e'.repeat(64)}`
const SERVICE = `service|web|app|nginx:latest|${sha('1')}|${sha('a')}|pull|${sha('b')}|1|up`

test('the digest of a stack is that of its own lines, and of nothing else', () => {
  const other = [`project|db|/opt/db/compose.yml|-`, `service|db|db|postgres|${sha('3')}|-|unknown|-|1|up`]

  const report = composeReport([...other, 'problem|db|x', STACK, SERVICE, 'code|0'])

  expect(report?.applications.map(({ source }) => source?.digest)).toEqual([
    null,
    createHash('sha256').update(`${STACK}\n${SERVICE}\n`).digest('hex'),
  ])
})

test.each<[string, string]>([
  ['a word that is not known', 'stack|web'],
  ['a service of no stack', SERVICE.replace('|web|', '|other|')],
  ['a second line of a stack', STACK],
  ['a service with a field too many', `${SERVICE}|x`],
  ['a service without an image', SERVICE.replace('nginx:latest', '')],
  ['an image that is an option', SERVICE.replace('nginx:latest', '--x')],
  ['a digest that is none', SERVICE.replace(sha('b'), 'sha256:b')],
  ['nothing to pull', SERVICE.replace(sha('b'), '-')],
  ['another action', SERVICE.replace('|pull|', '|push|')],
  ['no containers', SERVICE.replace('|1|up', '|0|up')],
  ['another state', SERVICE.replace('|up', '|away')],
  ['a name that is none', 'project|We b|/x|-'],
  ['a configuration that is none', 'project|other|/x|e'],
  ['a problem of a name that is none', 'problem|We b|x'],
  ['a problem with a field too many', 'problem|web|x|y'],
])('an answer with %s cannot be read', (_, line) => {
  expect(composeReport([STACK, SERVICE, 'code|0'])).toBeDefined()
  expect(composeReport([STACK, SERVICE, line, 'code|0'])).toBeUndefined()
})

test.each([
  ['that has failed', [STACK, SERVICE, 'code|1']],
  ['without its end', [STACK, SERVICE]],
  ['of nothing', []],
  ['with something after its end', ['code|0', STACK]],
  ['that is too long', [...Array.from({ length: 2_000 }, () => 'problem|-|x'), 'code|0']],
])('an answer %s cannot be read', (_, lines) => {
  expect(composeReport(lines)).toBeUndefined()
})

test('what a stack has is short enough for the API', () => {
  const lines = Array.from({ length: 20 }, (_, at) =>
    SERVICE.replace('app|nginx', `app${at}|registry.example/group/nginx${at}`),
  )

  const [stack] = composeReport([`project|web|${'/x,'.repeat(400)}|-`, ...lines, 'code|0'])?.applications ?? []

  expect(FoundApplication.safeParse(stack).error).toBeUndefined()
  expect(stack?.available).toHaveLength(200)
  expect(stack?.updatable).toBe(false)
})
