import type { Random } from './random.ts'

/** A piece of a command's output, and the pause after it. */
export interface Printed {
  bytes: Buffer
  pauseMs: number
}

const WORDS = [
  'paquet',
  'déballé',
  'œuvre',
  '設定',
  '🙂',
  'libc6:amd64',
  '2.36-9+deb12u10',
  '100 %',
  '\t',
  'naïve',
] as const
/** More than the buffer of a slow follower: the service closes its socket, and it has to resume. */
const FLOOD = 1536 * 1024
/** Longer than any pause between two faults, so that some faults hit it. */
const SILENCE_MS = 6_000
/** An invalid byte, which is stored as U+FFFD. */
const INVALID = Buffer.from([0xff])

/**
 * Prints the output of an upgrade: characters of one to four bytes, progress with CR and invalid bytes, in pieces that
 * may split a character. Most outputs last a few seconds; some pause for a while, and some are very long.
 */
export function* hostOutput(random: Random, title: string): Generator<Printed> {
  yield { bytes: Buffer.from(`${title}\n`), pauseMs: 0 }
  if (random.chance(0.03)) {
    yield* pieces(random, text(random, FLOOD), { least: 20_000, most: 60_000, pauseMs: 0 })
    return
  }
  const silentAt = random.chance(0.15) ? random.between(1, 4) : undefined
  for (let part = 0; part < 5; part += 1) {
    yield* pieces(random, text(random, random.between(200, 20_000)), { least: 1, most: 3_000, pauseMs: 120 })
    if (part === silentAt) yield { bytes: Buffer.alloc(0), pauseMs: SILENCE_MS }
  }
}

function text(random: Random, size: number): Buffer {
  const parts: Buffer[] = []
  for (let length = 0; length < size; ) {
    const word = Buffer.from(random.pick(WORDS))
    const end = random.chance(0.1) ? Buffer.from(random.pick(['\n', '\r\n', '\r'])) : Buffer.from(' ')
    const part = Buffer.concat(random.chance(0.01) ? [word, INVALID, end] : [word, end])
    parts.push(part)
    length += part.length
  }
  return Buffer.concat(parts)
}

function* pieces(
  random: Random,
  bytes: Buffer,
  { least, most, pauseMs }: { least: number; most: number; pauseMs: number },
): Generator<Printed> {
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + random.between(least, most))
    yield { bytes: bytes.subarray(at, end), pauseMs: random.between(0, pauseMs) }
    at = end
  }
}
