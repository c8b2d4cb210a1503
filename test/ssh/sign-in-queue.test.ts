import { expect, test } from 'vitest'
import { IDENTIFY } from '../../ssh/identity-script.ts'
import { hostOf, startDemo } from '../runtime/demo.ts'

/** A host that delays wrong passwords, with every slot taken and a queue full of them. */
async function underAttack(signal?: AbortSignal) {
  const demo = await startDemo({ wrongMs: 150 })
  const { host } = await hostOf(demo)
  const order: string[] = []
  const attempt = (from: string, password: string, more: { signal?: AbortSignal } = {}) =>
    host.signIn('demo', password, { from, ...more }).then(
      (found) => {
        order.push(`${from}: ${found ? 'in' : 'sent away'}`)
        return found
      },
      (error: unknown) => {
        order.push(`${from}: wrong`)
        return error
      },
    )
  return {
    host,
    demo,
    order,
    attempt,
    /** Thirty wrong passwords at once: six are being checked, twenty-four wait. */
    attack: () => Array.from({ length: 30 }, () => attempt('attacker', 'wrong', signal ? { signal } : {})),
  }
}

const places = (order: string[], entry: string) => order.flatMap((each, at) => (each === entry ? [at] : []))

test('an address with a successful last login passes a queue full of wrong passwords', async () => {
  const { attempt, attack, order } = await underAttack()
  expect(await attempt('regular', 'demo')).toMatchObject({ claim: { identity: { uid: 1000 } } })
  order.length = 0
  const flood = attack()

  expect(await attempt('regular', 'demo')).toMatchObject({ claim: { identity: { uid: 1000 } } })
  await Promise.all(flood)

  expect(places(order, 'regular: in')[0]).toBeLessThanOrEqual(8)
  // The last of the flood was displaced.
  expect(places(order, 'attacker: sent away')).toHaveLength(1)
  expect(places(order, 'attacker: wrong')).toHaveLength(29)
})

test('an unknown address passes failing ones', async () => {
  const { attempt, attack, order } = await underAttack()
  await attempt('attacker', 'wrong')
  order.length = 0
  const flood = attack()

  expect(await attempt('stranger', 'demo')).toMatchObject({ claim: { identity: { uid: 1000 } } })
  await Promise.all(flood)

  expect(places(order, 'stranger: in')[0]).toBeLessThanOrEqual(8)
})

test('a failing address is refused by a full queue, without a try', async () => {
  const { attempt, attack, demo } = await underAttack()
  await attempt('attacker', 'wrong')
  const flood = attack()

  expect(await attempt('attacker', 'demo')).toBeUndefined()

  await Promise.all(flood)
  expect(demo.commands).toEqual([])
})

test('an entry whose client disconnects leaves the queue at once, and the others move up', async () => {
  const leaving = new AbortController()
  const { attempt, attack, order, demo } = await underAttack(leaving.signal)
  // The host has identified itself by then.
  await attempt('before', 'demo')
  const flood = attack()
  const late = attempt('attacker', 'demo')
  expect(await late).toBeUndefined()
  order.length = 0

  leaving.abort()
  expect(await attempt('next', 'demo')).toMatchObject({ claim: { identity: { uid: 1000 } } })
  await Promise.all(flood)

  expect(places(order, 'attacker: sent away')).toHaveLength(24)
  expect(places(order, 'attacker: wrong')).toHaveLength(6)
  await expect.poll(() => demo.connections).toBe(0)
})

test('an account whose start-up files never end keeps nobody else out, and is bounded itself', async () => {
  const demo = await startDemo({
    users: {
      slow: { password: 'demo', uid: 1300, groups: ['slow'] },
      other: { password: 'demo', uid: 1301, groups: ['other'] },
    },
  })
  const { host } = await hostOf(demo)
  let end = (_code: number) => {}
  const endless = new Promise<number>((resolve) => {
    end = resolve
  })
  demo.override = (words) => (words[2] === IDENTIFY ? endless : undefined)
  const slow = Array.from({ length: 12 }, (_, at) => host.signIn('slow', 'demo', { from: `slow ${at}` }))
  const first = await Promise.race(slow)
  await expect.poll(() => demo.commands.filter((words) => words[2] === IDENTIFY)).toHaveLength(4)
  demo.override = () => undefined

  expect(await host.signIn('other', 'demo')).toMatchObject({ claim: { identity: { uid: 1301 } } })

  expect(first).toBeUndefined()
  end(1)
  const answers = await Promise.all(slow)
  expect(answers.filter((answer) => answer === undefined)).toHaveLength(8)
})
