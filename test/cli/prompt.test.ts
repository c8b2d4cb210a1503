import { PassThrough, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { createPrompt, PromptClosed } from '../../cli/prompt.ts'

/**
 * Creates a prompt over streams of its own. With `terminal`, the input is a terminal and records its mode. A `slow`
 * output takes a chunk only when `take` is called.
 */
function start({ terminal = false, slow = false } = {}) {
  const raw: boolean[] = []
  const stream = new PassThrough()
  const input = terminal
    ? Object.assign(stream, { isTTY: true, setRawMode: (mode: boolean) => void raw.push(mode) })
    : stream
  let shown = ''
  const taken: (() => void)[] = []
  const output = new Writable({
    write(chunk, _, done) {
      shown += String(chunk)
      if (slow) taken.push(done)
      else done()
    },
  })
  const prompt = createPrompt(input, output)
  onTestFinished(() => prompt.close())
  /** Makes a slow output take one chunk; returns false when there is none. */
  const take = () => {
    const done = taken.shift()
    done?.()
    return done !== undefined
  }
  return { prompt, input, shown: () => shown, raw, take }
}

const SECRET = 'p4s§ word'

test('lines that are piped at once answer one question each, in order and unchanged', async () => {
  const { prompt, input, shown } = start()
  input.end('one\n  two \n\nfour')

  expect(await prompt.ask('1? ')).toBe('one')
  expect(await prompt.askSecret('2? ')).toBe('  two ')
  expect(await prompt.ask('3? ')).toBe('')
  expect(await prompt.ask('4? ')).toBe('four')

  await expect(prompt.ask('5? ')).rejects.toThrow(PromptClosed)
  expect(shown()).toBe('1? 2? 3? 4? 5? ')
})

test('a line that arrives after its question, in pieces, answers it', async () => {
  const { prompt, input } = start()

  for (const answer of ['one', 'deux é', 'three']) {
    const asked = prompt.ask('? ')
    for (const byte of Buffer.from(`${answer}\n`)) input.write(Buffer.of(byte))
    expect(await asked).toBe(answer)
  }
})

test('a line may end with LF or CRLF', async () => {
  const { prompt, input } = start()
  input.end('one\r\ntwo\n')

  expect([await prompt.ask('? '), await prompt.ask('? ')]).toEqual(['one', 'two'])
})

test('the end of the input rejects the pending question and all later ones', async () => {
  const { prompt, input } = start()
  const asked = prompt.ask('? ')
  const rejected = expect(asked).rejects.toThrow(PromptClosed)
  input.end()
  await rejected

  await expect(prompt.ask('? ')).rejects.toThrow(PromptClosed)
  await expect(prompt.askSecret('? ')).rejects.toThrow(PromptClosed)
})

test('a terminal shows the answer to a question, but neither a secret nor its length', async () => {
  const { prompt, input, shown } = start({ terminal: true })

  const name = prompt.ask('Nom : ')
  input.write('panel\r')
  expect(await name).toBe('panel')
  await expect.poll(() => stripVTControlCharacters(shown())).toMatch(/^Nom : panel\r?\n$/)
  const before = shown()

  const secret = prompt.askSecret('Mot de passe : ')
  for (const character of SECRET) input.write(character)
  // A correction makes readline draw the whole line again.
  input.write('xy\x7f\x7f\x1b[D\x1b[C\r')
  expect(await secret).toBe(SECRET)
  expect(shown().slice(before.length)).toBe('Mot de passe : \n')

  const agreed = prompt.ask('Oui ? ')
  input.write('oui\r')
  expect(await agreed).toBe('oui')
  await expect.poll(() => stripVTControlCharacters(shown())).toContain('Oui ? oui')
  expect(shown()).not.toContain('p4s')
})

test('a terminal with slow output does not show the secret later', async () => {
  const { prompt, input, shown, take } = start({ terminal: true, slow: true })
  const name = prompt.ask('Nom : ')
  input.write('panel\r')
  expect(await name).toBe('panel')
  const secret = prompt.askSecret('Mot de passe : ')
  input.write(`${SECRET}\r`)
  expect(await secret).toBe(SECRET)

  const next = prompt.ask('Oui ? ')
  input.write('oui\r')
  await next
  while (take()) await setImmediate()

  expect(shown()).toContain('Oui ? ')
  expect(shown().replaceAll(/[\r\n]/g, '')).not.toContain(SECRET)
})

test('the history does not bring a typed secret back into view', async () => {
  const { prompt, input, shown } = start({ terminal: true })
  const secret = prompt.askSecret('Mot de passe : ')
  input.write(`${SECRET}\r`)
  expect(await secret).toBe(SECRET)

  const next = prompt.ask('Nom : ')
  input.write('\x1b[A\r')
  await next

  expect(shown()).not.toContain(SECRET)
})

test('a corrected answer at a terminal leaves its question in view', async () => {
  const { prompt, input, shown } = start({ terminal: true })
  const asked = prompt.ask('Nom : ')
  input.write('panek\x7fl\r')
  expect(await asked).toBe('panel')

  await expect.poll(shown).toMatch(/\n$/)
  // A terminal shows the part of a line after the last return to its beginning.
  const line = shown().trimEnd().split('\r').at(-1)?.split('\u001b[1G').at(-1)
  expect(line).toContain('Nom : ')
})

test.each(['ask', 'askSecret'] as const)('Ctrl-C at a terminal rejects %s', async (method) => {
  const { prompt, input, raw } = start({ terminal: true })
  const rejected = expect(prompt[method]('? ')).rejects.toThrow(PromptClosed)
  input.write('half\x03')
  await rejected

  await expect(prompt.ask('? ')).rejects.toThrow(PromptClosed)
  expect(raw.at(-1)).toBe(false)
})

test('Ctrl-D on an empty line is the end of the input', async () => {
  const { prompt, input } = start({ terminal: true })
  const rejected = expect(prompt.askSecret('? ')).rejects.toThrow(PromptClosed)
  input.write('\x04')
  await rejected
})

test('without a terminal nothing is echoed, hidden or added', async () => {
  const { prompt, input, shown } = start()
  input.write(`${SECRET}\n`)

  expect(await prompt.askSecret('Mot de passe : ')).toBe(SECRET)
  expect(shown()).toBe('Mot de passe : ')
})

test('close releases the input and restores the mode of the terminal', () => {
  const { prompt, input, raw } = start({ terminal: true })
  expect(raw).toEqual([true])
  expect(input.isPaused()).toBe(false)

  prompt.close()

  expect(raw).toEqual([true, false])
  expect(input.isPaused()).toBe(true)
  expect(input.destroyed).toBe(false)
})

test('close rejects the pending question', async () => {
  const { prompt } = start()
  const rejected = expect(prompt.ask('? ')).rejects.toThrow(PromptClosed)
  prompt.close()
  await rejected
})
