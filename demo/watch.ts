import * as z from 'zod'

const Frame = z.discriminatedUnion('type', [
  z.object({ type: z.literal('update_output'), data: z.object({ chunk: z.string() }) }),
  z.object({ type: z.literal('update_done'), data: z.object({ job_id: z.string() }) }),
  z.object({ type: z.literal('update_error'), data: z.object({ error: z.string() }) }),
  z.object({ type: z.literal('update_phase'), data: z.object({ phase: z.string() }) }),
])

/** Writes the output of a job to stdout as it arrives; the exit code is 0 when the job succeeded. */
function watch(url: string, job: string, token: string): void {
  const address = new URL(`/ws/updates/${encodeURIComponent(job)}`, url)
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  const socket = new WebSocket(address, ['panel.v1', `bearer.${token}`])
  let ended = false
  process.exitCode = 1

  socket.addEventListener('message', ({ data }) => {
    const frame = Frame.parse(JSON.parse(String(data)))
    if (frame.type === 'update_output') {
      process.stdout.write(frame.data.chunk)
      return
    }
    if (frame.type === 'update_phase') {
      process.stderr.write(`[${frame.data.phase}]\n`)
      return
    }
    ended = true
    if (frame.type === 'update_error') {
      process.stderr.write(`\n${frame.data.error}\n`)
      return
    }
    process.stdout.write(`\nTâche ${frame.data.job_id} terminée.\n`)
    process.exitCode = 0
  })
  socket.addEventListener('close', ({ code, reason }) => {
    if (!ended) process.stderr.write(`Connexion fermée (${code}${reason === '' ? '' : `, ${reason}`}).\n`)
  })
}

const [url, job, token] = process.argv.slice(2)
if (url && job && token && URL.canParse(url) && /^[\w.-]+$/.test(token)) {
  watch(url, job, token)
} else {
  // After a refused login the variable holds the error message instead of the token.
  process.stderr.write('Usage : npm run --silent demo:watch -- <adresse> <tâche> <jeton>\n')
  process.exitCode = 2
}
