import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { quote } from '../../ssh/command.ts'
import { ELEVATION } from '../../ssh/identity-script.ts'
import { openTerminal } from '../terminal-client.ts'
import { type Caller, signIn } from './client.ts'
import { asNarrow, resetNarrow } from './narrow.ts'
import { inside, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

/** A command that an attacker wants root to run: it makes a file where only root can write. */
const TOUCH = 'touch /run/pwned'
const HELPER = '/usr/sbin/ops-panel-host'
/** The form of the hash of a plan. */
const HASH = 'a0b1c2d3'.repeat(8)

beforeAll(async () => {
  await resetNarrow()
  // Programs and files that a process may pick up from its environment or folder; root must use none of them.
  await inside(
    'host',
    `mkdir /tmp/evil && cd /tmp/evil
    for name in sh cat env id setsid prlimit setpriv apt-get apt dpkg pct mkdir mkfifo rm sleep; do
      printf '#!/bin/sh\\n${TOUCH}\\n' >"$name"
    done
    printf 'APT::Update::Pre-Invoke { "${TOUCH}"; };\\n' >apt.conf
    printf 'system "${TOUCH}"; 1' >evil.pm
    echo '${TOUCH}' >profile
    chmod 755 /tmp/evil/*; chown -R narrow: /tmp/evil`,
  )
})
afterAll(() => rig('reset'))

/** A sample of root's files, which must not change. */
const sampleOfRootsFiles = () =>
  inside('host', 'ls -l --time-style=full-iso /etc/passwd /usr/sbin/ops-panel-host; ls /run')

type Case = readonly [name: string, words: string]

const REFUSED: readonly Case[] = [
  ['no verb', ''],
  ['an unknown verb', 'exec 101 -- touch /tmp/pwned'],
  ['an option before the verb', '--help list'],
  ['an option of apt', `upgrade host -o "APT::Update::Pre-Invoke::=${TOUCH}"`],
  ['an option of apt in place of a target', `refresh "-oAPT::Update::Pre-Invoke::=${TOUCH}"`],
  ['a command behind the target', `upgrade 'host; ${TOUCH}'`],
  ['a substitution in the target', `upgrade '$(${TOUCH})'`],
  ['a target of two lines', `upgrade $'101\\n102'`],
  ['a target that ends with a line end', `packages $'101\\n'`],
  ['a folder as a target', 'upgrade ../101'],
  ['a container whose number begins with 0', 'status 0101'],
  ['a container of two digits', 'status 99'],
  ['a container of ten digits', 'status 1234567890'],
  ['a container in other digits', 'status ١٠١'],
  ['an option of pct', 'packages --keep-env'],
  ['a second container', 'start 101 102'],
  ['an option of pct behind the container', 'start 101 --debug'],
  ['an empty target', `upgrade ''`],
  ['a pattern as a target', `upgrade '*'`],
  ['an option in place of a package', 'unhold host -o'],
  ['a substitution in the name of a package', `unhold host 'a$(${TOUCH})'`],
  ['a package of two lines', `unhold host $'curl\\n; ${TOUCH}'`],
  ['a hold without a package', 'unhold host'],
  ['a hold of no package', 'hold host'],
  ['an option in place of a held package', 'hold host --root=/tmp/evil'],
  ['a substitution in the name of a held package', `hold 101 'a$(${TOUCH})'`],
  ['a held package of two lines', `hold host $'curl\\n; ${TOUCH}'`],
  ['a hold of a pattern', `hold host 'a*'`],
  ['a plan without a selection', 'plan host'],
  ['a plan of half a selection', 'plan host all keep'],
  ['a plan of unknown updates', 'plan host some keep every'],
  ['a plan that does an unknown thing to packages', 'plan host all purge every'],
  ['a plan of an unknown choice', 'plan host all keep only curl'],
  ['a plan of a pattern of words', `plan host '*' '*' '*'`],
  ['a plan whose words share one argument', `plan host all:keep every x`],
  ['a plan with two words in one and an unknown one', `plan host all:keep these '$(${TOUCH})' curl`],
  ['a run of a plan with two words in one', `planned host ${HASH} all keep:without '$(${TOUCH})' curl`],
  ['a plan of every package and one more', 'plan host all keep every curl'],
  ['a plan of these packages without one', 'plan 101 security remove these'],
  ['a plan without no package', 'plan 101 all keep without'],
  ['an option in place of a planned package', 'plan host all keep these -oDir::Etc=/tmp/evil'],
  ['an option behind a planned package', 'plan host all keep these curl --simulate=no'],
  ['a substitution in the name of a planned package', `plan host all keep these 'a$(${TOUCH})'`],
  ['a planned package of two lines', `plan host all keep these $'curl\\nPin: version *'`],
  ['a version behind a planned package', 'plan host all keep these curl=1.0'],
  ['an empty planned package', `plan host all keep without ''`],
  ['a plan of a container whose number begins with 0', 'plan 0101 all keep every'],
  ['a run of a plan without a hash', 'planned host all keep every'],
  ['a run of a plan without a selection', `planned host ${HASH}`],
  ['a run of a plan of an unknown choice', `planned host ${HASH} all keep some curl`],
  ['a run of a plan with an option', `planned host ${HASH} all keep these -oDPkg::Pre-Invoke::=id`],
  ['a run of a plan with a substitution', `planned 101 ${HASH} all keep without '\`${TOUCH}\`'`],
  ['a run of a plan with a package of two lines', `planned host ${HASH} all keep these $'curl\\n'`],
  ['a hash with a capital letter', `planned host ${HASH.toUpperCase()} all keep every`],
  ['a hash of 63 digits', `planned host ${HASH.slice(1)} all keep every`],
  ['a hash of 65 digits', `planned host ${HASH}0 all keep every`],
  ['a hash that ends with a line end', `planned host $'${HASH.slice(1)}\\n' all keep every`],
  ['a hash that ends its quotes', `planned host "${HASH.slice(18)}' ; ${TOUCH} ; '" all keep every`],
  ['an empty hash', `planned host '' all keep every`],
  ['an option in place of a broken package', 'repair host --force-yes'],
  ['a repository with a control character', `allow host $'http://m/x\\033[2J'`],
  ['an option in place of a repository', 'allow host -oAPT::Update::Pre-Invoke::=id'],
  ['a repository longer than any', `allow host "$(printf 'h%0400d' 1)"`],
  ['a changelog of an option', 'changelog 101 --help 1.0'],
  ['a changelog of a version with a substitution', `changelog 101 curl '1$(${TOUCH})'`],
  ['a changelog of the host', 'changelog host curl 1.0'],
  ['a second package to clean', 'clean host curl'],
  ['a file to be written', 'manual host /etc/passwd'],
  ['a target of a folder that is to be upgraded by hand', 'manual ../101'],
  ['the flags of the host', 'flags host'],
  ['an invalid session', 'end -1 KILL'],
  ['the session 0', 'end 0 KILL'],
  ['a session in a folder', 'end ../1 KILL'],
  ['a pattern of sessions', `end '*' KILL`],
  ['another signal', 'end 1 STOP'],
  ['a hundred thousand digits', `upgrade "$(printf '%0100000d' 1)"`],
]

const NOT_ALLOWED: readonly Case[] = [
  ['another program', 'sudo -n sh -c id'],
  ['the helper by a shell', `sudo -n sh ${HELPER} list`],
  ['the container tool', 'sudo -n pct exec 101 -- id'],
  ['apt-get', 'sudo -n apt-get update'],
  ['a shell of sudo’s', `sudo -n -s ${HELPER} version`],
  ['a login of sudo’s', `sudo -n -i ${HELPER} version`],
  ['an editor of sudo’s', `sudo -n -e ${HELPER}`],
  ['another user', `sudo -n -u bob ${HELPER} version`],
  ['another folder', `sudo -n -D /tmp/evil ${HELPER} version`],
  ['another root', `sudo -n -R /tmp/evil ${HELPER} version`],
  ['its environment', `APT_CONFIG=/tmp/evil/apt.conf sudo -n -E ${HELPER} version`],
  ['a variable', `sudo -n APT_CONFIG=/tmp/evil/apt.conf ${HELPER} version`],
  ['files beside the three', `sudo -n -C 200 ${HELPER} version`],
  ['a link to another program', `ln -sf /bin/sh /tmp/evil/ops-panel-host; sudo -n /tmp/evil/ops-panel-host -c id`],
  ['the helper without sudo', `${HELPER} version`],
]

/** Prefixes of the command that the helper must ignore. */
const IGNORED: readonly Case[] = [
  [
    'variables of apt and dpkg',
    'env APT_CONFIG=/tmp/evil/apt.conf DPKG_ROOT=/tmp/evil DPKG_ADMINDIR=/tmp/evil DPKG_HOOKS_DIR=/tmp/evil',
  ],
  ['a path', 'env PATH=/tmp/evil:/usr/bin:/bin'],
  ['start-up files', 'env ENV=/tmp/evil/profile BASH_ENV=/tmp/evil/profile SHELLOPTS=xtrace PS4=x IFS=/'],
  ['libraries', 'env LD_LIBRARY_PATH=/tmp/evil PERL5LIB=/tmp/evil PERL5OPT=-Mevil PYTHONPATH=/tmp/evil'],
  ['another caller', 'env SUDO_UID=0 SUDO_GID=0 SUDO_USER=root HOME=/tmp/evil USER=bob'],
  ['functions of a shell', 'cat() { touch /tmp/evil/ran; }; export -f cat;'],
  ['a folder with programs', 'cd /tmp/evil;'],
  ['a folder that is gone', 'mkdir /tmp/evil/gone; cd /tmp/evil/gone; rmdir /tmp/evil/gone;'],
  ['a mask that lets everybody write', 'umask 0;'],
  ['a mask that leaves nothing', 'umask 777;'],
  ['that it has no files', 'exec <&- >&- 2>&-;'],
  [
    'ignored and blocked signals',
    `perl -MPOSIX -e '$SIG{$_} = "IGNORE" for qw(CHLD PIPE TERM HUP);
      sigprocmask(SIG_BLOCK, POSIX::SigSet->new(1, 2, 13, 15, 17)); exec @ARGV'`,
  ],
]

describe('an account that sudo allows only the helper', () => {
  let before = ''
  beforeEach(async () => {
    await inside('host', 'mkdir -p /run/ops-panel-host /run/sudo/ts')
    before = await sampleOfRootsFiles()
  })

  /** Runs each case as that account; returns its name, exit code, number of lines on stderr, and stdout. */
  const each = async (cases: readonly Case[], command: (words: string) => string) => {
    const scripts = cases.map(
      ([name, words]) =>
        `out=$( (${command(words)}) 2>/tmp/evil/err); echo "${name}|$?|$(wc -l </tmp/evil/err)|$(echo $out)|"`,
    )
    const lines = (await asNarrow(scripts.join('\n'))).stdout.trimEnd().split('\n')
    return lines.map((line) => line.split('|').slice(0, 4))
  }

  test('the helper refuses unknown arguments with code 64 and one line, and does nothing', async () => {
    const told = await each(REFUSED, (words) => `sudo -n ${HELPER} ${words}`)

    expect(told).toEqual(REFUSED.map(([name]) => [name, '64', '1', '']))
    expect(await sampleOfRootsFiles()).toBe(before)
  })

  test('sudo refuses everything else', async () => {
    const told = await each(NOT_ALLOWED, (words) => words)

    expect(told).toHaveLength(NOT_ALLOWED.length)
    expect(told.filter(([, code, , stdout]) => code === '0' || stdout !== '')).toEqual([])
    expect(await sampleOfRootsFiles()).toBe(before)
  })

  test('root’s programs inherit nothing of the caller’s environment, folder, mask, files and signals', async () => {
    const told = await each(IGNORED, (setting) => `${setting} /usr/bin/sudo -n ${HELPER} refresh host >/tmp/evil/out`)
    const failed = await each(IGNORED, (setting) => `${setting} /usr/bin/sudo -n ${HELPER} packages 103`)

    expect(told.map(([name, code]) => [name, code])).toEqual(IGNORED.map(([name]) => [name, '0']))
    expect(failed.map(([name, code]) => [name, code])).toEqual(IGNORED.map(([name]) => [name, '255']))
    expect(await sampleOfRootsFiles()).toBe(before)
    expect(await inside('host', 'find /var/lib/apt /run/ops-panel-host -perm /022 ! -type l')).toBe('')
    expect(await inside('host', 'ls /run/ops-panel-host/*; ls /tmp/evil/ran 2>/dev/null || true')).toBe('')
  })

  test('no limit makes the helper’s work fail half-way: it raises the limit, or does not begin', async () => {
    const limits: Case[] = ['-f 100', '-t 5', '-v 300000', '-n 20', '-d 1000'].map((limit) => [
      limit,
      `ulimit ${limit}`,
    ])
    const told = await each(limits, (limit) => `${limit}; sudo -n ${HELPER} list`)

    for (const [, ...line] of told) expect(line.join('|')).toMatch(/^(64\|1\|$|0\|0\|VMID .*103 stopped)/)
  })

  test('a file that the account may only read is not passed to a container as its output', async () => {
    // The container's root attacks too, and writes to every file that it gets.
    await inside(
      '101',
      `mv /usr/bin/apt /usr/bin/apt.away
      printf '#!/bin/sh\\nfor n in 0 1 2; do echo pwned >/proc/self/fd/$n; chmod 777 /proc/self/fd/$n; done\\n' >/usr/bin/apt
      chmod 755 /usr/bin/apt`,
    )
    await asNarrow(`sudo -n ${HELPER} packages 101 0</etc/passwd 1</etc/passwd 2</etc/passwd`)
    await asNarrow(`sudo -n ${HELPER} packages 101 0<${HELPER} 1<${HELPER} 2<${HELPER}`)
    await inside('101', 'mv /usr/bin/apt.away /usr/bin/apt')

    expect(await sampleOfRootsFiles()).toBe(before)
    expect(await inside('host', 'grep -c pwned /etc/passwd /usr/sbin/ops-panel-host || true')).toBe(
      '/etc/passwd:0\n/usr/sbin/ops-panel-host:0',
    )
  })

  test('the output that the account redirects is written with its own id, not by root', async () => {
    const { stdout } = await asNarrow(
      `mkfifo /tmp/evil/pipe; sudo -n ${HELPER} list >/tmp/evil/pipe &
      exec 3</tmp/evil/pipe; read -r line <&3; ps -o user= -C cat | sort -u; cat <&3 >/dev/null; wait`,
    )

    expect(stdout.split('\n').filter((user) => user === 'root')).toEqual([])
  })

  test('a container that never closes its output leaves no waiting process on the host', async () => {
    await inside(
      '101',
      `mv /usr/bin/apt /usr/bin/apt.away
      printf '#!/bin/sh\nsleep 1000 &\necho Listing...\n' >/usr/bin/apt; chmod 755 /usr/bin/apt`,
    )
    const told = await asNarrow(`sudo -n ${HELPER} packages 101 | cat`)
    await inside('101', 'pkill -x sleep; mv /usr/bin/apt.away /usr/bin/apt')

    expect(told).toEqual({ code: 0, stdout: 'Listing...\n', stderr: '' })
    expect(await inside('host', 'pgrep -u narrow -x cat || true')).toBe('')
  })

  test('the helper passes on the exit code, stdout and stderr, also of containers', async () => {
    expect(await asNarrow(`sudo -n ${HELPER} status 101`)).toEqual({ code: 0, stdout: 'status: running\n', stderr: '' })
    expect(await asNarrow(`sudo -n ${HELPER} packages 103`)).toMatchObject({
      code: 255,
      stdout: '',
      stderr: expect.stringContaining("container '103' not running!"),
    })
  })
})

describe('the processes that the account may end', () => {
  beforeAll(() => rig('slow', '400', '50'))

  test('are those of its own sessions: no other process, whatever its name, and no other account’s', async () => {
    await inside(
      'host',
      `echo 'bob ALL=(root) NOPASSWD: ${HELPER}' >/etc/sudoers.d/bob
      setsid su bob -c 'echo $$ >/tmp/bob; exec setsid sudo -n ${HELPER} upgrade 102 >/dev/null' </dev/null >/dev/null 2>&1 &
      setsid su narrow -c 'setsid -w bash -c "echo \\$\\$ >/tmp/narrow; sleep 300 & sudo -n ${HELPER} upgrade 101 >/dev/null; echo \\$? >/tmp/ended"' </dev/null >/dev/null 2>&1 &
      until [ -s /run/ops-panel-host/$(id -u narrow)/*/led ] && pgrep -x rig-slow.postin -s 0,$(cut -d' ' -f1 /run/ops-panel-host/$(id -u narrow)/*/led) &&
        [ -s /run/ops-panel-host/$(id -u bob)/*/led ]; do sleep 0.05; done >/dev/null`,
    )
    // Processes of root whose names imitate one of that session.
    await inside(
      'host',
      `read -r leader rest </run/ops-panel-host/$(id -u narrow)/*/led
      for name in ") S 1 1 $leader " "$(printf ')\\nS 1 1 %s' "$leader")"; do
        setsid perl -e '$0 = shift; sleep 300' "$name" </dev/null >/dev/null 2>&1 &
        echo $! >>/tmp/liars
        until grep -q '^)' /proc/$!/comm; do sleep 0.02; done
      done`,
    )
    const [own, others] = (await inside('host', 'cat /tmp/narrow; ls /run/ops-panel-host/$(id -u bob)')).split('\n')
    const [bobs] = (others ?? '').split('-')

    const theirs = await asNarrow(`sudo -n ${HELPER} end ${bobs} KILL; sudo -n ${HELPER} end 1 KILL`)
    const ended = await asNarrow(`sudo -n ${HELPER} end ${own} KILL`)
    await expect.poll(() => inside('host', 'cat /tmp/ended || true')).toBe('137')

    expect(theirs).toMatchObject({ code: 0, stdout: '0\n0\n' })
    expect(Number(ended.stdout)).toBeGreaterThan(2)
    expect(await inside('host', 'ls /run/ops-panel-host/$(id -u narrow)')).toBe('')
    expect(await inside('host', 'kill -0 $(cat /tmp/liars) && echo alive')).toBe('alive')
    expect(await inside('host', 'pgrep -u narrow -x sleep >/dev/null && echo alive')).toBe('alive')
    expect(await inside('host', 'pgrep -x rig-slow.postin | wc -l')).toBe('1')
    expect((await asNarrow(`sudo -n ${HELPER} end ${own} KILL`)).stdout).toBe('0\n')
    await inside('host', 'kill $(cat /tmp/liars); pkill -u narrow; pkill -KILL -x rig-slow.postin')
  })

  test('signals to the account’s own processes do not keep root’s work from its end', async () => {
    await rig('reset', '101')
    await rig('slow', '10', '20', '101')
    const { code, stdout } = await asNarrow(
      `sudo -n ${HELPER} upgrade 101 & until pgrep -x rig-slow.postin >/dev/null; do sleep 0.02; done; kill -TERM $! 2>/dev/null; kill -HUP $! 2>/dev/null; wait $!`,
    )

    expect(code).toBe(0)
    expect(stdout).toContain('rig-slow: step 10 of 10')
  })
})

describe('a service with that account', () => {
  let service: Service
  let alice: Caller
  beforeAll(async () => {
    service = await startService({ as: 'narrow' })
    alice = await signIn(service, 'alice')
    return () => service.stop()
  })

  test('logs that it gains its rights by the helper', async () => {
    expect((await alice.get('/api/updates/targets')).body).toHaveLength(4)
    expect(service.log()).toContain('"username":"narrow","elevation":"helper"')
  })

  test('stops and starts a container', async () => {
    for (const [action, status] of [
      ['stop', 'stopped'],
      ['start', 'running'],
    ]) {
      expect((await alice.post(`/api/hypervisor/containers/102/${action}`, {})).status).toBe(202)
      await expect.poll(() => inside('host', 'pct status 102'), { timeout: 20_000 }).toBe(`status: ${status}`)
    }
  })

  test('opens a terminal as that account, and refuses one in a container with a reason', async () => {
    const at = { url: service.url, token: alice.token }
    const terminal = await openTerminal(at, 'host')
    terminal.type('id -un\r')
    await terminal.until('narrow')
    const none = await openTerminal(at, 'lxc:101')

    await expect.poll(() => none.exit()?.reason).toContain('n’a de droits que par ops-panel-host')
  })
})

test('the service does not use a helper that others than root can change, directly or by its folder', async () => {
  const elevation = async () => {
    const { stdout } = await asNarrow(`sh -c ${quote([ELEVATION])} ops-panel-elevation ${HELPER} </dev/null`)
    return stdout.trim()
  }

  expect(await elevation()).toBe('helper')
  for (const [worse, better] of [
    [`chown bob ${HELPER}`, `chown root ${HELPER}`],
    [`chmod 775 ${HELPER}`, `chmod 755 ${HELPER}`],
    [`mv ${HELPER} /root/helper; ln -s /root/helper ${HELPER}`, `mv /root/helper ${HELPER}`],
    ['chmod 1777 /usr/sbin', 'chmod 755 /usr/sbin'],
  ] as const) {
    await inside('host', worse)
    expect(await elevation()).toBe('rule')
    await inside('host', better)
  }
  expect(await elevation()).toBe('helper')
})
