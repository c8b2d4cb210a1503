/** An event of a topic. `start` is its position in the topic's stream, in bytes; `seq` is the position after it. */
export interface HubEvent {
  type: string
  start: number
  seq: number
  data: unknown
}

/** An event in its wire format, built once for all subscribers. */
export interface Frame {
  start: number
  seq: number
  bytes: Buffer
}

export interface Subscriber {
  deliver(frame: Frame): void
  /** The topic has ended, with a final event if there is one. */
  finish(frame: Frame | undefined): void
  /** The topic can deliver no further events because of an error. Subscribers have to subscribe again. */
  fail?(error: unknown): void
}

export interface Hub {
  /** Returns a function that unsubscribes. It may be called more than once. */
  subscribe(topic: string, subscriber: Subscriber): () => void
  publish(topic: string, event: HubEvent): void
  /** Ends a topic. Its subscribers receive the event, if any, and are removed. */
  finish(topic: string, event?: HubEvent): void
  /** Removes all subscribers of a topic because of an error. */
  fail(topic: string, error: unknown): void
  subscribers(topic: string): number
}

/** Builds the wire format of an event. */
export function frame(topic: string, { type, start, seq, data }: HubEvent): Frame {
  return { start, seq, bytes: Buffer.from(JSON.stringify({ type, topic, seq, data })) }
}

/**
 * Creates an in-process event bus, which saves subscribers from polling the database. A topic exists while it has
 * subscribers.
 */
export function createHub(): Hub {
  const topics = new Map<string, Set<Subscriber>>()
  return {
    subscribe(topic, subscriber) {
      const subscribers = topics.get(topic) ?? new Set()
      topics.set(topic, subscribers.add(subscriber))
      return () => {
        subscribers.delete(subscriber)
        if (subscribers.size === 0 && topics.get(topic) === subscribers) topics.delete(topic)
      }
    },
    publish(topic, event) {
      const subscribers = topics.get(topic)
      if (!subscribers) return
      const built = frame(topic, event)
      for (const subscriber of subscribers) subscriber.deliver(built)
    },
    finish(topic, event) {
      const subscribers = topics.get(topic)
      if (!subscribers) return
      topics.delete(topic)
      const built = event && frame(topic, event)
      for (const subscriber of subscribers) subscriber.finish(built)
    },
    fail(topic, error) {
      const subscribers = topics.get(topic)
      topics.delete(topic)
      for (const subscriber of subscribers ?? []) subscriber.fail?.(error)
    },
    subscribers: (topic) => topics.get(topic)?.size ?? 0,
  }
}
