import * as z from 'zod'

const MOST = 1000

/** Columns or rows of a terminal, in an address. */
export const Size = z.coerce.number().int().min(1).max(MOST)

const Length = z.int().min(1).max(MOST)
const Control = z.object({ type: z.literal('resize'), cols: Length, rows: Length })

/** A text frame of the client; undefined for one that is none of the contract's. */
export function parseControl(text: string): z.infer<typeof Control> | undefined {
  try {
    return Control.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** How a shell has ended: `reason` is French, and there when it was not by the shell itself. */
export interface Exit {
  code: number | null
  reason?: string | undefined
}

/** The last frame of a terminal. */
export function exitFrame({ code, reason }: Exit): { bytes: Buffer } {
  return { bytes: Buffer.from(JSON.stringify({ type: 'exit', code, ...(reason && { reason }) })) }
}
