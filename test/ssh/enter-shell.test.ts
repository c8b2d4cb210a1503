import { PassThrough } from 'node:stream'
import type { ClientChannel } from 'ssh2'
import { expect, test } from 'vitest'
import { enterShell, entry } from '../../ssh/terminal.ts'

const PASSWORD = 'geheim-1'

/** A channel: `said` is the host's output, and `typed` its input. */
function channel() {
  const typed: string[] = []
  const stream = new PassThrough()
  const stderr = new PassThrough()
  const fake = Object.assign(stream, {
    stderr,
    close: () => void stream.emit('close'),
    write(text: string) {
      typed.push(text)
      return true
    },
  })
  const channel: ClientChannel = Object(fake)
  return { channel, typed, print: (text: string) => void stream.push(text) }
}

const begin = () =>
  entry((...halves) => ['pct', 'exec', '101', '--', 'sh', '-c', 'x', 'shell', ...halves], 'password', PASSWORD)
const none = { cut: () => {} }
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('prompt and mark appear in no word of the command, nor in the whole', () => {
  const { command, prompt, mark } = begin()

  for (const text of [...command, command.join(' '), command.join('')]) expect(text).not.toContain(prompt)
  for (const text of [...command, command.join(' ')]) expect(text).not.toContain(mark)
  expect(command).toContain(prompt.replace('%', '%%'))
})

test.each([
  ['in one piece', (text: string) => [text]],
  ['in two pieces', (text: string) => [text.slice(0, text.length / 2), text.slice(text.length / 2)]],
])('a command that the account’s shell traces, %s, is not mistaken for sudo', async (_, pieces) => {
  const begun = begin()
  const at = channel()
  const entered = enterShell(at.channel, begun, none)
  const traced = `+ ${begun.command.join(' ')}\r\n`

  for (const piece of pieces(traced)) {
    at.print(piece)
    await turn()
  }
  expect(at.typed).toEqual([])
  at.print(begun.prompt)
  await turn()
  expect(at.typed).toEqual([`${PASSWORD}\n`])
  at.print(`\r\n${begun.mark}\r\nwelcome`)

  expect(await entered).toBe(1)
  expect(String(at.channel.read())).toBe('welcome')
})

test('a second prompt means a refused password', async () => {
  const begun = begin()
  const at = channel()
  const entered = enterShell(at.channel, begun, none)
  entered.catch(() => {})

  at.print(begun.prompt)
  await turn()
  at.print(`\r\nSorry, try again.\r\n${begun.prompt}`)

  await expect(entered).rejects.toThrow('sudo refuse le mot de passe')
  expect(at.typed).toEqual([`${PASSWORD}\n`])
})
