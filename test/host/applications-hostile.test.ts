import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { canary } from '../property/canaries.ts'
import { type Caller, signIn } from './client.ts'
import { ADDRESS, expectNoRemains, ID, offerUpdate, SCRIPT, updatingAs, withApplication } from './community.ts'
import { within } from './protecting.ts'
import { rig } from './rig.ts'
import { type Service, startService } from './service.ts'
import { type Answer, SITE, type Site, startSite } from './site.ts'
import { leaks } from './stored.ts'

/** The first line of the container's /etc/shadow; it could be a version, so only where it comes from keeps it back. */
const SECRET = `9.${randomBytes(12).toString('hex')}`

let site: Site
let service: Service
let caller: Caller
let alice: ReturnType<typeof updatingAs>
beforeAll(async () => {
  await rig('reset')
  site = await startSite()
  service = await startService()
  caller = await signIn(service, 'alice')
  alice = updatingAs(caller)
  offerUpdate(site)
  await withApplication(site)
  await within('101', `echo ${SECRET} >/etc/shadow`)
})
afterAll(async () => {
  await service.stop()
  await site.close()
})

beforeEach(async () => {
  await within(
    '101',
    `rm -rf /root/.rig-app /opt/*_version.txt /usr/bin/update
    echo 1.0 >/root/.rig-app
    echo 'bash -c "$(curl -fsSL ${ADDRESS})"' >/usr/bin/update; chmod 755 /usr/bin/update`,
  )
})

const UPDATE = '/usr/bin/update'
const NOTED = '/root/.rig-app'

/** The application as a check lists it, with the packages beside it. */
async function listed() {
  const { packages, state } = await alice.check()
  expect({ state, packages: packages.length > 0 }).toEqual({ state: 'ready', packages: true })
  return alice.list()
}

const MARK = 'touch /opt/marked'
const marked = () => within('101', '[ ! -e /opt/marked ] || echo marked')

describe('a version that is none is not shown', () => {
  test.each<[title: string, make: string, version: string | null]>([
    ['a link to a secret', `ln -sf /etc/shadow ${NOTED}`, null],
    ['a link to a secret in /opt', `rm ${NOTED}; ln -s /etc/shadow /opt/Rig-App_version.txt`, null],
    ['a file without an end', `ln -sf /dev/zero ${NOTED}`, null],
    ['a pipe that nobody writes to', `rm ${NOTED}; mkfifo ${NOTED}`, null],
    ['a folder', `rm ${NOTED}; mkdir ${NOTED}`, null],
    ['a mebibyte of digits', `head -c 1048576 /dev/zero | tr '\\000' 7 >${NOTED}`, '7'.repeat(100)],
    ['control characters', `printf '1.0\\033[2J' >${NOTED}`, null],
    ['characters that turn the text round', `printf '1.0\\342\\200\\256' >${NOTED}`, null],
    [
      'lines after the first one',
      `printf '2.0\\n3.0\\ncommunity_script|x|9|${ADDRESS}|whole\\nend\\n' >${NOTED}`,
      '2.0',
    ],
    ['an empty first line', `printf '\\n2.0\\n' >${NOTED}`, null],
    ['the other fields of the line', `echo '1.0|https://evil.example/x.sh|whole' >${NOTED}`, null],
    ['a command', `echo '$(${MARK})' >${NOTED}`, null],
    [
      'a thousand files with other names',
      `cd /opt; for n in $(seq 1000); do echo 3.0 >"x$n"_version.txt; done; rm ${NOTED}`,
      null,
    ],
  ])('%s', async (_title, make, version) => {
    await within('101', make)

    expect(await listed()).toMatchObject([{ id: ID, version, source: { address: ADDRESS } }])
    expect(await marked()).toBe('')
  })
})

describe('a command `update` that is none of the community scripts is not listed, and its target is checked', () => {
  const loads = (address: string) => `echo 'bash -c "$(curl -fsSL ${address})"' >${UPDATE}`
  test.each<[title: string, make: string]>([
    ['a link to a secret', `ln -sf /etc/shadow ${UPDATE}`],
    ['a pipe that nobody writes to', `rm ${UPDATE}; mkfifo ${UPDATE}`],
    ['a folder', `rm ${UPDATE}; mkdir ${UPDATE}`],
    ['a gibibyte', `truncate -s 1G ${UPDATE}`],
    ['a file without an end', `ln -sf /dev/zero ${UPDATE}`],
    ['more than a command has', `head -c 5000 /dev/zero | tr '\\000' '#' >>${UPDATE}`],
    ['two scripts', `cat ${UPDATE} ${UPDATE} >/tmp/two; cp /tmp/two ${UPDATE}`],
    ['a name that is an option', loads(`https://${SITE}/ct/-rf.sh`)],
    ['a name of dots', loads(`https://${SITE}/ct/...sh`)],
    ['a name of 400 characters', loads(`https://${SITE}/ct/${'a'.repeat(400)}.sh`)],
    ['a command in the address', loads(`https://${SITE}/ct/$(${MARK}).sh`)],
    ['a field in the address', loads(`https://${SITE}/ct/a|1.0|${ADDRESS}|whole.sh`)],
    ['credentials in the address', loads(`https://me:${SECRET}@${SITE}/ct/rig-app.sh`)],
    ['a file of the container', loads('file:///etc/shadow')],
  ])('%s', async (_title, make) => {
    await within('101', make)

    expect(await listed()).toEqual([])
    expect(await marked()).toBe('')
  })
})

describe('an answer of the network that cannot be shown is an error, and nothing runs', () => {
  const endless: Answer = (response) => {
    const write = () => {
      if (!response.destroyed && response.write('# more\n'.repeat(4_000))) setImmediate(write)
    }
    response.on('drain', write)
    write()
  }
  const slow: Answer = (response) => {
    const timer = setInterval(() => response.write('#\n'), 200)
    response.on('close', () => clearInterval(timer))
  }
  const redirect =
    (to: string): Answer =>
    (response) =>
      void response.writeHead(302, { location: to }).end()
  const LARGE = 'more than 1048576 bytes'
  test.each<[title: string, given: string | Buffer | Answer, reason: RegExp | string]>([
    ['a text that never ends', endless, LARGE],
    ['a mebibyte and one byte', '#'.repeat(1024 * 1024 + 1), LARGE],
    ['a text that comes too slowly', slow, /timed out/],
    [
      'a length that is not true',
      (response) => void response.writeHead(200, { 'content-length': '900' }).end('#', () => response.destroy()),
      /./,
    ],
    ['a way to a file of the container', redirect('file:///etc/shadow'), /Protocol "file"/],
    ['a way without an end', redirect(ADDRESS), /redirects/],
    ['bytes that are no text', Buffer.from([0x23, 0xff, 0xfe, 0x0a]), 'not a text'],
    ['a text with a NUL', `# ${'\0'}\n`, 'not a text'],
    ['nothing', '', 'it is empty'],
    ['an error of the server', (response) => void response.writeHead(500).end(MARK), /500/],
    ['no such script', (response) => void response.writeHead(404).end(MARK), '404'],
  ])('%s', async (_title, given, reason) => {
    await alice.check()
    site.put(SCRIPT, given)
    const began = performance.now()

    const { status, body } = await alice.source()

    expect({ status, body }).toMatchObject({
      status: 502,
      body: { code: 'source_unavailable', error: expect.stringMatching(reason) },
    })
    expect(performance.now() - began).toBeLessThan(60_000)
    expect(await alice.list()).toMatchObject([{ source: { digest: null, agreed: false } }])
    await expectNoRemains('101')
    expect(await within('101', 'pgrep -x curl || true')).toBe('')
    expect(await marked()).toBe('')
  })
})

test('a download that never ends is cancelled with its update, and leaves nothing', async () => {
  offerUpdate(site, { before: `echo "it has begun"; curl -fsSL https://${SITE}/endless -o /dev/null` })
  const closed = new Promise<void>((resolve) => {
    site.put('/endless', (response) => {
      response.write('x')
      response.on('close', resolve)
    })
  })
  const id = await alice.begin(await alice.agreed())
  await expect.poll(() => site.asked(), { timeout: 30_000 }).toContain('/endless')

  expect((await caller.post(`/api/updates/jobs/${id}/cancel`, {})).status).toBe(202)

  expect(await alice.ended(id)).toMatchObject({ status: 'error', outcome: 'cancelled' })
  await closed
  await expectNoRemains('101')
})

test('no answer, no log and no stored byte has the secret', async () => {
  expect(await leaks(service.folder, service.log(), [canary('the shadow file', SECRET)])).toEqual([])
})
