import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { forgetPeak, memory } from '../../bench/memory.ts'
import { type Caller, signIn } from './client.ts'
import { startJob } from './job.ts'
import { replacePostinst } from './postinst.ts'
import { inside, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

/** The limits in MiB of the growth of the service's resident memory, and of its peak. */
const GROWTH = 61
const PEAK = 230
/** Generous, because the machine may be busy. */
const WITHIN_MS = 300_000

const FILE = '/srv/rig/flood'
const SMALLER = 50_000_000
const [BEGIN, END] = ['rig-slow: the flood begins\n', 'rig-slow: the flood has ended\n']

/** Prints 10⁹ bytes: three quarters like a program's output, with accents, and one quarter incompressible. */
const WRITE = `
exec >${FILE}
seq -f 'Réception de : %.0f http://mirror.example/debian bookworm/main amd64 rig-slow all 2.0 [64,0 ko]' 99999999 |
  head -c 749999999 | iconv -c -f UTF-8 -t UTF-8 || true
echo
head -c 190000000 /dev/urandom | base64 -w 120 | head -c $((1000000000 - $(stat -c %s ${FILE})))
`
const postinst = (flood: string) => `#!/bin/sh
[ "$1" = configure ] && [ -n "$2" ] || exit 0
printf '${BEGIN.replace('\n', '\\n')}'
${flood}
printf '${END.replace('\n', '\\n')}'
`

const Detail = z.object({ status: z.string(), exit_code: z.number().nullable(), output_size: z.number() })
const Piece = z.object({ chunk: z.string(), offset: z.number(), next_offset: z.number(), ended: z.boolean() })

let service: Service
let bob: Caller
beforeAll(async () => {
  await rig('reset')
  await inside('host', WRITE)
  await replacePostinst('host', postinst(`cat ${FILE}`))
  await replacePostinst('101', postinst(`yes 'rig-slow: a twentieth of that' | head -c ${SMALLER}`))
  service = await startService({ env: { PANEL_JOB_OUTPUT_MIB: '1024' } })
  bob = await signIn(service, 'bob')
  // Warm-up: any work grows V8's young generation, and the test measures only the growth with the length of an output.
  const id = await startJob(bob, 'lxc:101')
  await ended(id)
  for (let round = 0; round < 4; round += 1) await readFlood(id, SMALLER)
}, 120_000)
afterAll(async () => {
  await service.stop()
  await rig('reset')
})

test(
  'the service stores and sends a gigabyte of output with little growth of its memory',
  async () => {
    const before = await memory(service.pid)
    await forgetPeak(service.pid)
    const growth = async () => (await memory(service.pid)).peak - before.now

    const id = await startJob(bob, 'host')
    const { status, exit_code, output_size } = await ended(id)
    expect({ status, exit_code }).toEqual({ status: 'success', exit_code: 0 })
    const written = await growth()
    expect(written).toBeLessThanOrEqual(GROWTH)

    const { size, sha256 } = await fileOnHost()
    expect(size).toBe(1_000_000_000)
    const read = await readFlood(id, size)
    expect(read).toEqual({ sha256, next: END, ended: output_size })
    expect(await growth()).toBeLessThanOrEqual(GROWTH)
    const { peak } = await memory(service.pid)
    expect(peak).toBeLessThanOrEqual(PEAK)
    console.info(
      `grown by ${written.toFixed(0)} MiB while it was stored, ${(await growth()).toFixed(0)} once it was read, to ${peak.toFixed(0)}`,
    )
  },
  2 * WITHIN_MS,
)

async function ended(id: string) {
  const detail = async () => Detail.parse((await bob.get(`/api/updates/jobs/${id}?output=none`)).body)
  await vi.waitUntil(async () => (await detail()).status !== 'running', { timeout: WITHIN_MS, interval: 200 })
  return detail()
}

async function fileOnHost() {
  const [sha256, size] = (await inside('host', `sha256sum <${FILE} | cut -d' ' -f1; stat -c %s ${FILE}`)).split('\n')
  return { sha256, size: Number(size) }
}

/** Polls an output; returns the hash of the flood, the text after it, and the size of the output. */
async function readFlood(id: string, size: number) {
  const headers = { authorization: `Bearer ${bob.token}` }
  const hash = createHash('sha256')
  let left = size
  let from: number | undefined
  let rest = ''
  for (let offset = 0; ; ) {
    // Uses fetch directly, because the tests' own client keeps every answer.
    const answer = await fetch(`${service.url}/api/updates/jobs/${id}/output?offset=${offset}`, { headers })
    const piece = Piece.parse(await answer.json())
    expect(piece.offset).toBe(offset)
    expect(piece.next_offset > offset || piece.ended).toBe(true)
    offset = piece.next_offset
    const bytes = Buffer.from(piece.chunk)
    const begin = from === undefined ? bytes.indexOf(BEGIN) + BEGIN.length : 0
    from ??= begin
    const flood = bytes.subarray(begin, begin + left)
    hash.update(flood)
    left -= flood.length
    rest += bytes.toString('utf8', begin + flood.length)
    if (piece.ended) return { sha256: hash.digest('hex'), next: rest.slice(0, END.length), ended: offset }
  }
}
