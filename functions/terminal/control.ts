import * as z from 'zod'
import { parseJson } from '../../platform/untrusted.ts'
import { checked, integerText } from '../../runtime/input.ts'

const MOST = 1000

/** Columns or rows of a terminal, in an address. */
export const Size = integerText({ min: 1, max: MOST })

const Length = z.int().min(1).max(MOST)
/** The frame that changes the size of the terminal. */
export const Resize = z.object({ type: z.literal('resize'), cols: Length, rows: Length })

/** Parses a text frame of the client; undefined for a frame outside the contract. */
export function parseControl(text: string): z.infer<typeof Resize> | undefined {
  const parsed = checked(Resize, parseJson(text))
  return parsed.success ? parsed.data : undefined
}

/** The end of a shell. `reason` is French, and present when the shell did not exit by itself. */
export const Exit = z.object({ type: z.literal('exit'), code: z.int().nullable(), reason: z.string().optional() })
export type Exit = Omit<z.infer<typeof Exit>, 'type'>

/** Returns the last frame of a terminal. */
export function exitFrame({ code, reason }: Exit): { bytes: Buffer } {
  return { bytes: Buffer.from(JSON.stringify({ type: 'exit', code, ...(reason && { reason }) })) }
}
