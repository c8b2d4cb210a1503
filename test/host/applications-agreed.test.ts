import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Caller, signIn } from './client.ts'
import {
  expectNoRemains,
  NEW,
  OLD,
  offerUpdate,
  pathOf,
  SCRIPT,
  stateOfApp,
  updatingAs,
  withApplication,
} from './community.ts'
import { POLICY, within } from './protecting.ts'
import { rig } from './rig.ts'
import { type Service, startService } from './service.ts'
import { SITE, type Site, startSite } from './site.ts'

let site: Site
let service: Service
let caller: Caller
let alice: ReturnType<typeof updatingAs>
beforeAll(async () => {
  await rig('reset')
  site = await startSite()
  service = await startService({ as: 'ops', isProtected: true })
  caller = await signIn(service, 'alice')
  alice = updatingAs(caller)
})
afterAll(async () => {
  await service.stop()
  await site.close()
})
beforeEach(async () => {
  offerUpdate(site)
  await withApplication(site)
})

/** When the container was started. */
const started = () => within('101', `cut -d' ' -f22 /proc/1/stat`)
/** Whether code ran that leaves its mark. */
const marked = () => within('101', '[ ! -e /opt/marked ] || echo marked')
const MARK = 'touch /opt/marked\n'

test('another text is refused before a job, and runs once somebody agrees to it', async () => {
  const digest = await alice.agreed()
  site.put(pathOf('tools'), MARK)

  expect(await alice.run(digest)).toMatchObject({ status: 409, body: { code: 'source_changed' } })
  // The request has fetched it: what was agreed to before is no longer what was shown last.
  expect(await alice.run(digest)).toMatchObject({ status: 422, body: { code: 'not_agreed' } })
  expect(await alice.agree(digest)).toMatchObject({ status: 409, body: { code: 'source_changed' } })
  expect(await marked()).toBe('')
  expect(await stateOfApp()).toBe(OLD)

  expect(await alice.update()).toMatchObject({ status: 'success' })
  expect(await marked()).toBe('marked')
})

test.each(['ask', 'rollback'])(
  'a text that changes between the request and the job ends it, and nothing has run or is rolled back: %s',
  async (on_failure) => {
    const text = `echo "the agreed tools"\n`
    // The texts are shown, then the request for the run compares them; the third fetch is the job’s.
    site.put(pathOf('tools'), (response, time) => response.end(time < 3 ? text : MARK))
    const digest = await alice.agreed()
    const since = await started()

    const job = await alice.ended(await alice.begin(digest, { ...POLICY, on_failure }))

    expect(job).toMatchObject({ status: 'error', error_code: 'source_changed', outcome: 'failed' })
    expect(job.output).toContain(`https://${SITE}${pathOf('tools')} gives something else than what was agreed to.`)
    expect(job.regressions).toEqual([])
    expect(await marked()).toBe('')
    expect(await stateOfApp()).toBe(OLD)
    expect(await started()).toBe(since)
    await expectNoRemains('101')
  },
)

test('a text that changes during the run is not the one that runs', async () => {
  const digest = await alice.agreed()
  const agreed = await alice.shown()
  const texts = new Map(agreed.files.map(({ address, text }) => [new URL(address).pathname, text]))
  // The fetches of the request and of the job get the agreed texts, and the script would get others.
  for (const [path, text] of texts) site.put(path, (response, time) => response.end(time < 3 ? text : MARK))
  site.forget()

  const job = await alice.ended(await alice.begin(digest))

  expect(job).toMatchObject({ status: 'success', outcome: 'upgraded', error_code: null })
  expect(await stateOfApp()).toBe(NEW)
  expect(await marked()).toBe('')
  expect(site.asked().filter((path) => path === SCRIPT)).toHaveLength(2)
})

test('a question of whiptail ends the update with an error of its own', async () => {
  offerUpdate(site, { before: `whiptail --title "Rig-App" --yesno "Really?" 10 60\n${MARK}` })

  const job = await alice.update()

  expect(job).toMatchObject({ status: 'error', error_code: 'application_asks', outcome: 'failed' })
  expect(job.output).toMatch(/ops-panel: this update asks a question .*\n {2}--title Rig-App --yesno Really\?/)
  expect(await marked()).toBe('')
  expect(await stateOfApp()).toBe(OLD)
  await expectNoRemains('101')
})

test.each([
  ['its input', 'read -r -p "Really? " answer'],
  ['the terminal', 'read -r answer </dev/tty'],
])('a script that reads %s gets no answer and does not wait', async (_where, line) => {
  offerUpdate(site, { before: `${line}\n${MARK}` })

  const job = await alice.update()

  expect(job).toMatchObject({ status: 'success', error_code: null, outcome: 'failed', exit_code: 1 })
  expect(job.output).toMatch(/in line \d+: exit code 1/)
  expect(await marked()).toBe('')
  expect(await stateOfApp()).toBe(OLD)
})

test.each([
  ['by its ending', `https://${SITE}/more.sh`, 'source <(curl -fsSL "$(cat /opt/address)")'],
  ['by its text', `https://${SITE}/setup_22`, 'curl -fsSL "$(cat /opt/address)" -o /opt/more; bash /opt/more'],
  // The shell that asks is not the one of the script, and would go on by itself.
  [
    'in another shell',
    `https://${SITE}/more.sh`,
    `bash -c 'source <(curl -fsSL "$(cat /opt/address)"); touch /opt/marked' | cat`,
  ],
])('code that nobody has agreed to is refused, recognised %s', async (_how, address, line) => {
  site.put(new URL(address).pathname, `#!/bin/bash\n${MARK}`)
  offerUpdate(site, { before: `${line}\n${MARK}` })
  await within('101', `echo '${address}' >/opt/address`)

  const job = await alice.update()

  expect(job).toMatchObject({ status: 'error', error_code: 'application_refused', outcome: 'failed' })
  expect(job.output).toContain(`\n  ${address}\n`)
  expect(await marked()).toBe('')
  expect(await stateOfApp()).toBe(OLD)
  await expectNoRemains('101')
})

test('an application that its script does not find is told, although the script ends well', async () => {
  await within('101', 'mv /opt/rig-app /opt/away')

  const job = await alice.update()

  expect(job).toMatchObject({ status: 'error', error_code: 'application_not_installed', outcome: 'failed' })
})

test.each([
  ['', ''],
  [' and ignores every signal to end', `trap '' TERM INT HUP\n`],
])('an update that never ends%s is cancelled, and leaves nothing', async (_how, traps) => {
  offerUpdate(site, { before: `${traps}echo "it has begun"; (sleep 1000 | cat) & while :; do sleep 1; done` })
  const id = await alice.begin(await alice.agreed())
  await expect.poll(async () => (await alice.record(id)).output, { timeout: 30_000 }).toContain('it has begun')

  expect((await caller.post(`/api/updates/jobs/${id}/cancel`, {})).status).toBe(202)

  expect(await alice.ended(id)).toMatchObject({ status: 'error', outcome: 'cancelled' })
  expect(await within('101', 'pgrep -x sleep || true')).toBe('')
  // Nothing removes the folder of a run that only KILL ends, before the next run.
  if (traps === '') await expectNoRemains('101')
  offerUpdate(site)
  expect(await alice.update()).toMatchObject({ status: 'success', outcome: 'upgraded' })
  await expectNoRemains('101')
})
