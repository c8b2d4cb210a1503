import * as z from 'zod'
import { wholeNumber } from '../../runtime/whole-number.ts'

const MOST = 1000

/** Columns or rows of a terminal, in an address. */
export const Size = wholeNumber({ min: 1, max: MOST })

const Length = z.int().min(1).max(MOST)
/** The terminal of a client has another size. */
export const Resize = z.object({ type: z.literal('resize'), cols: Length, rows: Length })

/** A text frame of the client; undefined for one that is none of the contract's. */
export function parseControl(text: string): z.infer<typeof Resize> | undefined {
  try {
    return Resize.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** How a shell has ended: `reason` is French, and there when it was not by the shell itself. */
export const Exit = z.object({ type: z.literal('exit'), code: z.int().nullable(), reason: z.string().optional() })
export type Exit = Omit<z.infer<typeof Exit>, 'type'>

/** The last frame of a terminal. */
export function exitFrame({ code, reason }: Exit): { bytes: Buffer } {
  return { bytes: Buffer.from(JSON.stringify({ type: 'exit', code, ...(reason && { reason }) })) }
}
