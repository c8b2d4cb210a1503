/** What is told to the subscribers of a topic: where in the topic's stream it begins and ends, in bytes. */
export interface HubEvent {
  type: string
  start: number
  seq: number
  data: unknown
}

/** An event as it goes over the wire, built once for all subscribers. */
export interface Frame {
  start: number
  seq: number
  bytes: Buffer
}

export interface Subscriber {
  deliver(frame: Frame): void
  /** The topic has said its last, with a final event or, if there is none, in silence. */
  finish(frame: Frame | undefined): void
  /** What is told can be told no further; whoever listens has to come back. */
  fail?(error: unknown): void
}

export interface Hub {
  /** Returns the way out, which may be called more than once. */
  subscribe(topic: string, subscriber: Subscriber): () => void
  publish(topic: string, event: HubEvent): void
  /** Ends a topic: its subscribers get the event, if any, and are let go. */
  finish(topic: string, event?: HubEvent): void
  /** Lets the subscribers of a topic go, because of an error. */
  fail(topic: string, error: unknown): void
  subscribers(topic: string): number
}

/** The envelope of every event. */
export function frame(topic: string, { type, start, seq, data }: HubEvent): Frame {
  return { start, seq, bytes: Buffer.from(JSON.stringify({ type, topic, seq, data })) }
}

/** Topics live as long as somebody listens. The database is the truth, the hub only spares asking it. */
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
