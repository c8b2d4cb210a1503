import { beforeAll, describe, expect, test } from 'vitest'
import { openTerminal, say, WAIT } from '../terminal-client.ts'
import { type Caller, signIn } from './client.ts'
import { type Account, inside, PASSWORDS, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

export const at = ({ service: { url }, token }: Caller) => ({ url, token })

/** Returns whether a process with this word in its command line runs there. */
export const runs = async (place: 'host' | '101', word: string) =>
  (await inside(place, `pgrep -f '[${word[0]}]${word.slice(1)}' || true`)) !== ''

/** All byte values, escape sequences of a full-screen program, and multi-byte characters. */
const SCREEN = Buffer.concat([
  Buffer.from('\x1b[?1049h\x1b[2J\x1b[H\x1b[1;24r\x1b[38;5;196m╔═é€😀═╗\x1b[m\n\n\x1b[24;1H~\x1b[6n\x1b]0;titre\x07'),
  Buffer.from(Array.from({ length: 256 }, (_, n) => n)),
  Buffer.from('\x1b[?1049l'),
])

/** Declares the terminal tests for one service account; `kind` says how that account becomes root. */
export function terminalTests(account: Account, kind: string): void {
  describe(`terminals with the service account ${account} (${kind})`, () => {
    let service: Service
    let alice: Caller
    beforeAll(async () => {
      await rig('reset')
      await rig('lang', 'fr_FR.UTF-8')
      service = await startService({ as: account })
      alice = await signIn(service, 'alice')
      return () => service.stop()
    })

    test('a terminal of the host runs the account’s login shell, in the requested size', async () => {
      const terminal = await openTerminal(at(alice), 'host', { cols: 101, rows: 33 })

      expect(await say(terminal, 'stty size; id -un; echo $TERM; pwd; shopt login_shell')).toMatch(
        new RegExp(
          `^33 101\\r\\n${account}\\r\\nxterm-256color\\r\\n/(home/)?${account}\\r\\nlogin_shell +\\ton\\r\\n$`,
        ),
      )
    })

    test('a terminal of a container runs root’s login shell without the host’s environment', async () => {
      await inside('101', 'echo LANG=en_US.UTF-8 >/etc/default/locale')
      const terminal = await openTerminal(at(alice), 'lxc:101', { cols: 101, rows: 33 })

      expect(
        await say(terminal, 'stty size; id -un; hostname; pwd; echo $TERM $LANG $HOME; env | grep -c -e SUDO -e SSH'),
      ).toBe('33 101\r\nroot\r\nweb\r\n/root\r\nxterm-256color en_US.UTF-8 /root\r\n0\r\n')
      expect(await say(terminal, 'shopt login_shell')).toMatch(/on/)
      await inside('101', 'rm /etc/default/locale')
      const other = await openTerminal(at(alice), 'lxc:101')
      expect(await say(other, 'echo $LANG')).toBe('C.UTF-8\r\n')
    })

    test.each(['host', 'lxc:101'])('a resize changes stty size in %s, and programs get SIGWINCH', async (target) => {
      const terminal = await openTerminal(at(alice), target)
      expect(await say(terminal, 'stty size')).toBe('24 80\r\n')
      terminal.type(`sh -c 'trap "stty size" WINCH; echo "rea""dy"; while :; do sleep 0.1; done'\r`)
      await terminal.until('ready')

      terminal.tell({ type: 'resize', cols: 123, rows: 45 })

      await terminal.until('45 123')
      terminal.type('\x03')
      expect(await say(terminal, 'stty size')).toBe('45 123\r\n')
    })

    test.each(['host', 'lxc:101'])(
      'the output of a full-screen program in %s arrives unchanged, with all byte values',
      async (target) => {
        const terminal = await openTerminal(at(alice), target)
        const place = target === 'host' ? 'host' : '101'
        await inside(place, `printf %s '${SCREEN.toString('base64')}' | base64 -d >/tmp/screen; chmod 644 /tmp/screen`)
        await say(terminal, 'stty raw -echo')

        terminal.forget()
        terminal.type("cat /tmp/screen; printf 'en''d'\n")

        await terminal.until(/end/)
        expect(terminal.bytes().includes(SCREEN)).toBe(true)
      },
    )

    test.each(['host', 'lxc:101'])(
      'typed input in %s reaches a program unchanged, with all byte values',
      async (target) => {
        const terminal = await openTerminal(at(alice), target)
        terminal.type(
          `stty raw -echo; echo rea''dy; head -c ${SCREEN.length} | base64 -w0; stty sane; echo; echo do''ne\r`,
        )
        await terminal.until('ready')

        // Frames of one byte split multi-byte characters.
        for (const byte of SCREEN.subarray(0, 80)) terminal.type(Buffer.from([byte]))
        terminal.type(SCREEN.subarray(80))

        await terminal.until('done')
        expect(terminal.seen()).toContain(SCREEN.toString('base64'))
      },
    )

    test.each(['host', 'lxc:101'])('50 MB of output arrive complete from %s', async (target) => {
      const terminal = await openTerminal(at(alice), target)
      const wanted = Buffer.alloc(50_000_000, 'y\n')
      await say(terminal, 'stty -opost')

      terminal.forget()
      terminal.type("yes | head -c 50000000; printf 'en''d'\r")
      await terminal.until('y\nend')

      const all = terminal.bytes()
      const begin = all.indexOf('y\ny\n')
      expect(firstDifference(all.subarray(begin, begin + wanted.length), wanted)).toBeUndefined()
      expect(all.subarray(begin + wanted.length, begin + wanted.length + 3).toString()).toBe('end')
    })

    test.each(['host', 'lxc:101'])('Ctrl-C ends a program in %s, and exit ends the shell', async (target) => {
      const terminal = await openTerminal(at(alice), target)
      await say(terminal, 'true')
      terminal.type('sleep 4321\r')
      await expect.poll(() => runs(target === 'host' ? 'host' : '101', 'sleep 4321'), WAIT).toBe(true)

      terminal.type('\x03')

      await terminal.until(/\^C/)
      await expect.poll(() => runs(target === 'host' ? 'host' : '101', 'sleep 4321'), WAIT).toBe(false)
      terminal.type('exit 42\r')
      expect(await terminal.closed).toEqual({ code: 1000, word: '' })
      expect(terminal.exit()).toEqual({ type: 'exit', code: 42 })
    })

    test.each(['host', 'lxc:101'])(
      'a closed socket ends the shell in %s, and the programs that run in it',
      async (target) => {
        const terminal = await openTerminal(at(alice), target)
        const place = target === 'host' ? 'host' : '101'
        await say(terminal, 'true')
        terminal.type("exec sh -c 'sleep 4322; sleep 4323'\r")
        await expect.poll(() => runs(place, 'sleep 4322'), WAIT).toBe(true)

        terminal.ws.close()

        await expect.poll(() => runs(place, 'sleep 432'), WAIT).toBe(false)
        await expect.poll(() => inside('host', 'pgrep -fa "[p]ct exec|[l]xc-attach" || true'), WAIT).toBe('')
      },
    )

    test('neither the password nor a mark appears in the output or in any process of the host', async () => {
      const terminal = await openTerminal(at(alice), 'lxc:101')
      await say(terminal, 'true')
      const processes = await inside(
        'host',
        'cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n"',
      )

      expect(terminal.seen()).not.toContain(PASSWORDS[account])
      expect(terminal.seen()).not.toContain('ops-panel')
      expect(terminal.seen()).not.toMatch(/password|mot de passe/i)
      expect(processes).not.toContain(PASSWORDS[account])
    })

    test('start-up files that trace every command do not make the service type the password too early', async () => {
      const home = account === 'root' ? '/root' : `/home/${account}`
      await inside(
        'host',
        `cp ${home}/.bashrc /tmp/bashrc-before 2>/dev/null || :; { echo 'set -x'; cat ${home}/.bashrc 2>/dev/null; } >/tmp/traced; cat /tmp/traced >${home}/.bashrc`,
      )
      try {
        for (let n = 0; n < 5; n += 1) {
          const terminal = await openTerminal(at(alice), 'lxc:101')
          expect(await say(terminal, 'id -un')).toContain('root')
          expect(terminal.seen()).not.toContain(PASSWORDS[account])
          expect(terminal.seen()).not.toContain('ops-panel')
          terminal.ws.close()
          await terminal.closed
        }
      } finally {
        await inside(
          'host',
          `[ -e /tmp/bashrc-before ] && cat /tmp/bashrc-before >${home}/.bashrc || rm -f ${home}/.bashrc; rm -f /tmp/bashrc-before`,
        )
      }
    })

    test('stopping a container ends its terminal with a reason', async () => {
      const terminal = await openTerminal(at(alice), 'lxc:102')
      await say(terminal, 'true')

      await inside('host', 'pct stop 102')

      expect((await terminal.closed).code).toBe(1000)
      expect(terminal.exit()).toMatchObject({ type: 'exit', reason: 'Le conteneur s’est arrêté.' })
      await inside('host', 'pct start 102')
    })

    test.each([
      ['lxc:103', 1000, 'Le conteneur 103 n’est pas démarré.'],
      ['lxc:999', 1000, 'Le conteneur 999 n’existe pas.'],
      ['lxc:x', 1000, 'Le conteneur x n’existe pas.'],
      ['lxc:-1', 1000, 'Le conteneur -1 n’existe pas.'],
      ['lxc:101; touch /tmp/here', 1000, 'Le conteneur 101; touch /tmp/here n’existe pas.'],
      ['all', 1008, 'Cible invalide : all'],
      ['', 1008, 'Cible invalide : '],
    ])('the target %j is refused with a reason', async (target, code, reason) => {
      const terminal = await openTerminal(at(alice), target)

      expect((await terminal.closed).code).toBe(code)
      expect(terminal.exit()).toEqual({ type: 'exit', code: null, reason })
      expect(terminal.bytes()).toHaveLength(0)
    })

    test('a container without bash runs sh', async () => {
      await inside('101', 'mv /bin/bash /bin/no-bash')
      const terminal = await openTerminal(at(alice), 'lxc:101')

      expect(await say(terminal, 'echo $0 $SHELL; stty size')).toMatch(/^-?\S*sh \S*\/sh\r\n24 80\r\n$/)
      await inside('101', 'mv /bin/no-bash /bin/bash')
    })
  })
}

/** Returns the position and text of the first difference between two outputs, or undefined if they are equal. */
function firstDifference(found: Buffer, wanted: Buffer): string | undefined {
  if (found.equals(wanted)) return undefined
  let at = 0
  while (found[at] === wanted[at]) at += 1
  return `at ${at}: ${JSON.stringify(found.subarray(Math.max(0, at - 20), at + 40).toString('latin1'))}`
}
