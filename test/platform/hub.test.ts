import { expect, test } from 'vitest'
import { createHub, type Frame, type Subscriber } from '../../platform/hub.ts'

function recorder() {
  const frames: Frame[] = []
  const ends: (Frame | undefined)[] = []
  const subscriber: Subscriber = { deliver: (frame) => frames.push(frame), finish: (frame) => ends.push(frame) }
  return { frames, ends, subscriber }
}

const event = (seq: number) => ({ type: 'update_output', start: seq - 1, seq, data: { chunk: 'é' } })

test('an event reaches each subscriber of its topic, in order, and nobody else', () => {
  const hub = createHub()
  const [one, two, other] = [recorder(), recorder(), recorder()]
  hub.subscribe('update:1', one.subscriber)
  hub.subscribe('update:1', two.subscriber)
  hub.subscribe('update:2', other.subscriber)

  hub.publish('update:1', event(2))
  hub.publish('update:1', event(4))

  expect(one.frames.map(({ seq }) => seq)).toEqual([2, 4])
  expect(two.frames.map(({ seq }) => seq)).toEqual([2, 4])
  expect(other.frames).toEqual([])
})

test('the frame is the envelope in UTF-8, built once for all subscribers', () => {
  const hub = createHub()
  const [one, two] = [recorder(), recorder()]
  hub.subscribe('update:1', one.subscriber)
  hub.subscribe('update:1', two.subscriber)
  let built = 0
  const data = {
    get chunk() {
      built += 1
      return 'é'
    },
  }

  hub.publish('update:1', { type: 'update_output', start: 0, seq: 2, data })

  expect(built).toBe(1)
  expect(one.frames[0]?.bytes).toBe(two.frames[0]?.bytes)
  expect(one.frames[0]?.bytes.toString()).toBe(
    '{"type":"update_output","topic":"update:1","seq":2,"data":{"chunk":"é"}}',
  )
})

test('without a subscriber no frame is built, and the topic does not exist', () => {
  const hub = createHub()
  const data = {
    get chunk(): string {
      throw new Error('built for nobody')
    },
  }

  hub.publish('update:1', { type: 'update_output', start: 0, seq: 1, data })
  hub.finish('update:1', { type: 'update_done', start: 0, seq: 1, data })

  expect(hub.subscribers('update:1')).toBe(0)
})

test('a removed subscriber receives nothing more; a second removal affects no other', () => {
  const hub = createHub()
  const [one, two, late] = [recorder(), recorder(), recorder()]
  const leave = hub.subscribe('update:1', one.subscriber)
  const leaveToo = hub.subscribe('update:1', two.subscriber)

  leave()
  leave()
  hub.publish('update:1', event(1))
  expect(one.frames).toEqual([])
  expect(two.frames).toHaveLength(1)

  leaveToo()
  hub.subscribe('update:1', late.subscriber)
  leave()
  leaveToo()
  expect(hub.subscribers('update:1')).toBe(1)
  hub.publish('update:1', event(2))
  expect(late.frames).toHaveLength(1)
})

test('finishing delivers the last event once, removes all subscribers and ends the topic', () => {
  const hub = createHub()
  const [one, later] = [recorder(), recorder()]
  const leave = hub.subscribe('update:1', one.subscriber)

  hub.finish('update:1', { type: 'update_done', start: 0, seq: 9, data: { job_id: '1' } })
  hub.finish('update:1')
  hub.publish('update:1', event(10))

  expect(one.ends.map((frame) => frame?.seq)).toEqual([9])
  expect(one.frames).toEqual([])
  hub.subscribe('update:1', later.subscriber)
  leave()
  expect(hub.subscribers('update:1')).toBe(1)
})

test('a topic may end without an event', () => {
  const hub = createHub()
  const { ends, subscriber } = recorder()
  hub.subscribe('update:1', subscriber)

  hub.finish('update:1')

  expect(ends).toEqual([undefined])
})

test('a subscriber may unsubscribe during delivery', () => {
  const hub = createHub()
  const two = recorder()
  let received = 0
  const leave = hub.subscribe('update:1', {
    deliver() {
      received += 1
      leave()
    },
    finish() {},
  })
  hub.subscribe('update:1', two.subscriber)

  hub.publish('update:1', event(1))
  hub.publish('update:1', event(2))

  expect(received).toBe(1)
  expect(two.frames).toHaveLength(2)
})
