// Upgrades one target and prints its output:
//   PANEL_PASSWORD=demo node follow-upgrade.ts http://127.0.0.1:8080 demo lxc:101
import { createPanel } from 'ops-panel-client'

const [url = 'http://127.0.0.1:8080', user = 'demo', target = 'host'] = process.argv.slice(2)
try {
  const panel = createPanel({ url })
  await panel.signIn(user, process.env.PANEL_PASSWORD ?? '')
  const { job_id } = await panel.api('POST /api/updates/run', { body: { target } })
  for await (const event of panel.follow(`update:${job_id}`)) {
    if (event.type === 'update_output') process.stdout.write(event.data.chunk)
    if (event.type === 'update_error') console.error(event.data.error)
  }
  const job = await panel.api('GET /api/updates/jobs/{id}', { params: { id: job_id }, query: { output: 'none' } })
  await panel.signOut()
  process.exitCode = job.exit_code ?? 1
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
