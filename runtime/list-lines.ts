import { AnswerTooLong } from './channel.ts'

/** More things than a host has containers, or a container packages that can be upgraded. */
const MOST = 10_000
/** No line of a list is anywhere near so long. */
const LINE = 4_096
/** Read in one turn of the event loop, in lines and in characters: some two milliseconds. */
const A_TURN = { lines: 500, length: 64 * 1024 }

/**
 * What `read` makes of each line of an answer; undefined passes a line over. Others have their turn in between, however
 * many lines there are. Rejects with an AnswerTooLong rather than give a part of a list: for more than ten thousand things,
 * or a line of more than 4,096 characters.
 */
export async function readLines<item>(text: string, read: (line: string) => item | undefined): Promise<item[]> {
  const items: item[] = []
  let turn = { lines: 0, from: 0 }
  for (let at = 0; at <= text.length; ) {
    const found = text.indexOf('\n', at)
    const end = found < 0 ? text.length : found
    if (end - at > LINE) throw new AnswerTooLong(`une ligne de ${LINE} caractères`)
    const item = read(text.slice(at, end))
    if (item !== undefined) items.push(item)
    if (items.length > MOST) throw new AnswerTooLong(`${MOST} éléments`)
    at = end + 1
    turn.lines += 1
    if (turn.lines >= A_TURN.lines || at - turn.from >= A_TURN.length) {
      turn = { lines: 0, from: at }
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return items
}
