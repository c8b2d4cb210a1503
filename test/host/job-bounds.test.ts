import { beforeAll, describe, expect, test } from 'vitest'
import { type Caller, signIn } from './client.ts'
import { alike, hashes, jobDetail, keepHostFile } from './copies.ts'
import { runCheck, runJob, startFollowed } from './job.ts'
import { replacePostinst } from './postinst.ts'
import { type Account, inside, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

const MIB = 1024 * 1024

describe.each<Account>(['root', 'ops'])('with the service account %s', (account) => {
  let service: Service
  let bob: Caller
  beforeAll(async () => {
    await rig('reset')
    // As libpam-tmpdir does, with a folder that no container has.
    await inside('host', 'echo TMPDIR=/var/tmp/of-the-host >>/etc/environment')
    for (const place of ['101', '102', 'host'] as const) await replacePostinst(place, POSTINSTS[place])
    service = await startService({ as: account, env: { PANEL_JOB_OUTPUT_MIB: '1' } })
    bob = await signIn(service, 'bob')
    return () => service.stop()
  })

  test('a container reaches no file of the host by its own output, and learns no folder of the host', async () => {
    const { output, last } = await runJob(bob, 'lxc:101')

    expect(last).toMatchObject({ type: 'update_done' })
    // The output from before the attempt is complete.
    expect(output).toMatch(/^(Get|Hit|Ign|Reading)/)
    expect(output).toMatch(/^before$[\s\S]*^forged$[\s\S]*^made$[\s\S]*^after$/m)
    const open = [...output.matchAll(/^fd (\d+ .*)$/gm)].map(([, fd = '']) => fd.replace(/\d+\]$/, ']'))
    for (const fd of ['0 /dev/null', '1 pipe:[]', '2 pipe:[]']) expect(open).toContain(fd)
    expect(open.join('\n')).not.toContain('ops-panel')
  })

  test('a command in a container does not get the host’s /dev/null as its input', async () => {
    await inside(
      '101',
      `mv /usr/bin/apt-get /usr/bin/apt-get.away
      cat >/usr/bin/apt-get <<'END'
#!/bin/sh
pid=$$
while [ "$pid" -gt 1 ]; do
  chmod 600 /proc/$pid/fd/* 2>/dev/null
  set -- $(cat /proc/$pid/stat)
  pid=$4
done
END
      cp /usr/bin/apt-get /usr/bin/apt
      chmod 755 /usr/bin/apt-get`,
    )
    await runJob(bob, 'lxc:101')
    await runCheck(bob, 'lxc:101')
    await bob.get('/api/updates/packages?target=lxc:101')
    await rig('reset', '101')

    expect(await inside('host', 'stat -c "%a %U" /dev/null')).toBe('666 root')
  })

  test('a job that prints too much keeps its first and its last lines, and says how much is missing', async () => {
    await inside('102', 'touch /etc/rig/hold')
    const job = await startFollowed(bob, 'lxc:102')
    const kept = await keepHostFile(job.id, service.database)
    await job.until(({ output }) => output().length > MIB / 2 - 100)
    // The dropped middle does not fill the host’s disk either.
    expect(Number(await inside('host', 'du -sk /var/tmp/ops-panel-jobs-* | cut -f1'))).toBeLessThan(1.5 * 1024 + 64)
    await inside('102', 'rm /etc/rig/hold')
    expect(await job.closed).toBe(1000)

    const four = await hashes(bob, job.id, { hostFile: await kept(), live: job.output() })
    expect(four).toEqual(alike(four.host))
    const [head = '', missing, tail = ''] = job.output().split(/^\[… (\d+) octets omis : la sortie dépasse 1 Mio …\]$/m)
    expect(head).toMatch(/^(Get|Hit|Ign|Reading)[\s\S]*^number 1$/m)
    expect(tail).toMatch(/^number 400000$/m)
    expect(Number(missing)).toBeGreaterThan(MIB)
    const { status, exit_code, output_size } = await jobDetail(bob, job.id)
    expect({ status, exit_code }).toEqual({ status: 'success', exit_code: 0 })
    expect(output_size).toBeLessThan(MIB + 200)
  })

  test('an account that lists the host’s folders and processes learns no job’s id', async () => {
    await inside('host', 'mkdir -p /etc/rig && touch /etc/rig/hold')
    const job = await startFollowed(bob, 'host')
    await job.until(({ output }) => output().includes('holding'))

    const seen = await inside('host', `su bob -s /bin/sh -c 'ls -l /tmp /var/tmp; ps -eww -o args='`)
    await inside('host', 'rm /etc/rig/hold')
    await job.closed

    expect(seen).toMatch(/ops-panel-job [\s\S]* [0-9a-f]{32} /)
    // The id's first half is its start time, which the name of a file kept by this suite may contain.
    expect(job.id.split('-')).toHaveLength(2)
    expect(seen).not.toContain(job.id.split('-')[1])
  })
})

const WHEN_UPGRADED = '#!/bin/sh\n[ "$1" = configure ] && [ -n "$2" ] || exit 0\n'
const POSTINSTS = {
  '101': `${WHEN_UPGRADED}echo before
: >/proc/self/fd/1
: >/proc/self/fd/2
for fd in /proc/$$/fd/*; do echo "fd \${fd##*/} $(readlink "$fd")"; done
echo forged | dd of=/proc/self/fd/1 conv=notrunc 2>/dev/null
rm "$(mktemp)" && echo made
echo after
`,
  '102': `${WHEN_UPGRADED}seq -f 'number %.0f' 400000
while [ -e /etc/rig/hold ]; do sleep 0.05; done
`,
  host: `${WHEN_UPGRADED}echo holding
while [ -e /etc/rig/hold ]; do sleep 0.05; done
`,
}
