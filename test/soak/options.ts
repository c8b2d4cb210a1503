import { parseArgs } from 'node:util'
import * as z from 'zod'
import { FAULTS, type FaultName, isFaultName } from './faults.ts'

export interface Options {
  seconds: number
  clients: number
  seed: number
  faults: readonly FaultName[]
  json: boolean
}

const NAMES = Object.keys(FAULTS).filter(isFaultName)

export const HELP = `Runs clients against the service and an imitated host, injects faults, and counts lost data and
other defects. Ends with code 1 if there are any.

  npm run test:soak -- [--seconds 600] [--clients 200] [--seed N] [--faults a,b] [--json]

  --seconds   duration of the load (SOAK_SECONDS); the last jobs take one or two minutes more
  --clients   number of clients (SOAK_CLIENTS)
  --seed      seed of all random choices (SOAK_SEED); a random one by default
  --faults    the faults to inject (SOAK_FAULTS): ${NAMES.join(', ')}
  --json      the report as JSON on stdout
`

const Given = z.object({
  seconds: z.coerce.number().int().min(5).max(86_400),
  clients: z.coerce.number().int().min(1).max(2_000),
  seed: z.coerce
    .number()
    .int()
    .min(0)
    .max(2 ** 32 - 1),
  faults: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.string().refine(isFaultName, `faults are ${NAMES.join(', ')}`))),
  json: z.boolean(),
})

/**
 * Reads the command line, and the environment for absent options; undefined when help is requested. Throws a TypeError
 * that names the mistake.
 */
export function readOptions(args: string[], environment: Record<string, string | undefined>): Options | undefined {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: environment.SOAK_SECONDS ?? '600' },
      clients: { type: 'string', default: environment.SOAK_CLIENTS ?? '200' },
      seed: { type: 'string', default: environment.SOAK_SEED ?? String(Math.floor(Math.random() * 2 ** 32)) },
      faults: { type: 'string', default: environment.SOAK_FAULTS ?? NAMES.join(',') },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  const given = Given.safeParse(values)
  if (!given.success) throw new TypeError(z.prettifyError(given.error))
  return given.data
}
