import { expect, test, vi } from 'vitest'
import type { Output } from '../../ssh/channel.ts'
import { createAccountLookup } from '../../ssh/account-lookup.ts'
import { SshError } from '../../ssh/connection.ts'

/** A lookup whose host answers each question on request. */
function start() {
  const asked: string[] = []
  const waiting: ((answer: 'told' | 'gone' | Error) => void)[] = []
  const lookup = createAccountLookup(
    ([, , , , mark = '', name = '']) =>
      new Promise<Output>((resolve, reject) => {
        asked.push(name)
        waiting.push((answer) => {
          if (answer instanceof Error) return reject(answer)
          const fields = answer === 'gone' ? ['gone'] : [name, '1000', '/bin/sh', 'usable', '', '0', 'unasked', name]
          resolve({ code: 0, stdout: [mark, ...fields, mark, ''].join('\0'), stderr: '' })
        })
      }),
  )
  const answer = (how: 'told' | 'gone' | Error = 'told') => {
    for (const each of waiting.splice(0)) each(how)
  }
  const shared = (name: string, withinMs = 5_000) => lookup.lookUp(name, { shared: true, withinMs })
  return { lookup, asked, answer, shared }
}

test('two hundred simultaneous refreshes cost one question per user', async () => {
  const { asked, answer, shared } = start()

  const answers = Array.from({ length: 200 }, (_, n) => shared(n % 2 ? 'bob' : 'alice'))
  answer()

  expect(new Set((await Promise.all(answers)).map((account) => account !== 'gone' && account.name))).toEqual(
    new Set(['bob', 'alice']),
  )
  expect(asked).toEqual(['alice', 'bob'])
})

test('an answer is shared for some seconds, and a failure only with the calls that wait for it', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const { asked, answer, shared } = start()
    const failing = [shared('bob'), shared('bob')]
    answer(new SshError('lost', 'gone'))
    for (const each of failing) await expect(each).rejects.toThrow('gone')
    const first = shared('bob')
    answer()
    await first
    vi.advanceTimersByTime(14_900)
    await shared('bob')
    expect(asked).toEqual(['bob', 'bob'])

    vi.advanceTimersByTime(200)
    const later = shared('bob')
    answer('gone')

    expect(await later).toBe('gone')
    expect(asked).toEqual(['bob', 'bob', 'bob'])
  } finally {
    vi.useRealTimers()
  }
})

test('a login asks again, and so does a refresh after it or after changed settings', async () => {
  const { lookup, asked, answer, shared } = start()
  const ask = async (question: Promise<unknown>) => {
    answer()
    await question
  }
  await ask(shared('bob'))
  await ask(lookup.lookUp('bob'))
  await ask(shared('bob'))
  expect(asked).toHaveLength(3)

  lookup.forget()
  await ask(shared('bob'))

  expect(asked).toHaveLength(4)
})

test('a lookup at a silent host gives up in time, also in the queue', async () => {
  const { asked, shared } = start()

  const waiting = Array.from({ length: 20 }, (_, n) => shared(`user${n}`, 50))

  expect(asked).toHaveLength(8)
  for (const each of waiting.slice(8)) await expect(each).rejects.toMatchObject({ reason: 'unanswered' })
})
