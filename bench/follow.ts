import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import * as z from 'zod'

export const Task = z.object({ url: z.string(), token: z.string(), program: z.string(), args: z.array(z.string()) })

const Started = z.object({ job_id: z.string() })

/** The size of the output in bytes, and how often the service closed the socket because this client was too slow. */
export interface Followed {
  size: number
  reconnects: number
}

const TOO_SLOW = 1013
const DONE = 1000

/** Starts a command as a job; returns its id. */
export async function startJob({ url, token, program, args }: z.infer<typeof Task>): Promise<string> {
  const response = await fetch(`${url}/api/bench/jobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ program, args }),
  })
  if (response.status !== 202) throw new Error(`the job was refused: ${await response.text()}`)
  return Started.parse(await response.json()).job_id
}

/** Starts a command as a job and follows its output to the final event; passes each frame of output to `onOutput`. */
export async function followNewJob(
  task: z.infer<typeof Task>,
  onOutput: (frame: Buffer) => void = () => {},
): Promise<Followed> {
  return followJob(task, await startJob(task), onOutput)
}

/** Follows a job that runs to its final event; passes each frame of output to `onOutput`. */
export async function followJob(
  { url, token }: { url: string; token: string },
  job_id: string,
  onOutput: (frame: Buffer) => void = () => {},
): Promise<Followed> {
  const followed = { size: 0, reconnects: -1 }
  let last = ''
  let code = TOO_SLOW
  while (code === TOO_SLOW) {
    followed.reconnects += 1
    const address = `${url.replace('http', 'ws')}/ws/updates/${job_id}?from=${followed.size}`
    code = await receive(address, token, (frame) => {
      const [, type = '', seq = ''] = HEAD.exec(frame.toString('latin1', 0, 200)) ?? []
      last = type
      followed.size = Number(seq)
      if (type === 'update_output') onOutput(frame)
    })
  }
  if (code !== DONE || last !== 'update_done') throw new Error(`the job ended with ${last}, its socket with ${code}`)
  return followed
}

const Polled = z.object({ status: z.string(), output_size: z.number() })
const POLL_MS = 100

/** Starts a command as a job and polls until it has ended; returns the bytes of its output. */
export async function awaitNewJob(task: z.infer<typeof Task>): Promise<Followed> {
  const id = await startJob(task)
  for (;;) {
    const response = await fetch(`${task.url}/api/updates/jobs/${id}?output=none`, {
      headers: { authorization: `Bearer ${task.token}` },
    })
    const { status, output_size: size } = Polled.parse(await response.json())
    if (status === 'error') throw new Error('the job failed')
    if (status === 'success') return { size, reconnects: 0 }
    await pause(POLL_MS)
  }
}

/** Reads the end of a frame without parsing its 64 KiB: the client must not be the bottleneck. */
const HEAD = /^\{"type":"(\w+)","topic":"[^"]*","seq":(\d+),/

/** Settles with the code that the socket is closed with. */
function receive(address: string, token: string, onFrame: (frame: Buffer) => void): Promise<number> {
  const socket = new WebSocket(address, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
  })
  return new Promise((resolve, reject) => {
    socket.on('message', (data) => {
      if (Buffer.isBuffer(data)) onFrame(data)
    })
    socket.on('error', reject)
    socket.on('close', resolve)
  })
}
