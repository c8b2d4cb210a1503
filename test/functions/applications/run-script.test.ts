import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { FETCH, readFetched } from '../../../functions/applications/fetch-script.ts'
import {
  ASKS,
  NOT_AGREED,
  NOT_BEGUN,
  REFUSES_CODE,
  RUN_SCRIPT,
  SOURCE_CHANGED,
} from '../../../functions/applications/run-script.ts'
import { scriptPlace } from './script-place.ts'

const sha = (text: string) => createHash('sha256').update(text).digest('hex')

/** A container whose script `app.sh` loads `tools.func`, both as they were agreed to; `@` is the address of the server. */
async function agreed(
  app: string,
  {
    tools = 'tool() { echo "a tool"; }\n',
    patterns = [],
    more = {},
  }: { tools?: string; patterns?: string[]; more?: Record<string, string> } = {},
) {
  const place = await scriptPlace({ '/app.sh': app, '/tools.func': tools, ...more })
  const text = (written: string) => written.replaceAll('@', place.base)
  const files = [...[sha(text(app)), `${place.base}/app.sh`], ...[sha(text(tools)), `${place.base}/tools.func`]]
  const run = () => place.shell(RUN_SCRIPT, 'app', String(patterns.length), ...patterns.map(text), ...files)
  const left = () => readdirSync(join(place.root, 'var/tmp'))
  return { ...place, run, left }
}

test('what was agreed to runs from files, and what its addresses give meanwhile does not', async () => {
  const { run, left, serve, put, asked, forget, root } = await agreed(
    [
      'source <(curl -fsSL @/tools.func)',
      'tool',
      'bash -c "$(wget -qO- @/tools.func); tool"',
      'curl -fsSL @/tools.func -o "$PLACE_FILE" -w "%{http_code}\\n"',
      `echo "$PHS_SILENT $TERM \${BASH_SOURCE[0]-none} $(basename "$0")"`,
      'echo 2.0 >"$HOME/.app"',
    ]
      .join('\n')
      .replaceAll('"$PLACE_FILE"', '"$HOME/copy"'),
  )
  put('root/.app', '1.0\n')
  forget()
  const { status, lines, stderr } = run()

  expect([status, stderr]).toEqual([0, ''])
  expect(lines).toEqual(['a tool', 'a tool', '200', '1 xterm none bash', '', 'ops-panel: version 1.0 -> 2.0'])
  expect(asked()).toEqual(['/app.sh', '/tools.func'])
  expect(left()).toEqual([])

  serve('/tools.func', 'tool() { touch "$HOME/../opt/taken"; }')
  forget()
  const changed = run()
  expect(changed.status).toBe(SOURCE_CHANGED)
  expect(changed.stdout).toMatch(
    /^ops-panel: http:\S+\/tools\.func gives something else than what was agreed to\. Nothing was run\.\n$/,
  )
  expect(existsSync(join(root, 'opt/taken'))).toBe(false)
  expect(readFileSync(join(root, 'root/.app'), 'utf8')).toBe('2.0\n')
  expect(left()).toEqual([])
})

test('a script that looks for its parts beside itself finds none that another account could have put there', async () => {
  const looks = [
    `source "$(dirname "\${BASH_SOURCE[0]-}")/../misc/build.func" 2>/dev/null || source <(curl -fsSL @/tools.func)`,
    `for part in "$(dirname "$0")/../misc/build.func" "$(dirname "\${BASH_SOURCE[0]-}")/misc/build.func"; do [ ! -f "$part" ] || source "$part"; done`,
    'tool',
  ]
  const { run, put } = await agreed(looks.join('\n'))
  for (const folder of ['var/tmp/misc', 'var/misc']) put(`${folder}/build.func`, 'echo taken\n')
  const { status, lines } = run()

  expect(lines).toEqual(['a tool', '', 'ops-panel: version - -> -'])
  expect(status).toBe(0)
})

test('a script that is too long for its own command does not begin', async () => {
  const { run } = await agreed(`echo run\n${'#'.repeat(131_072)}\n`)
  const { status, lines } = run()

  expect(status).toBe(NOT_BEGUN)
  expect(lines).toEqual(['ops-panel: The script is longer than its command could run it. Nothing was run.'])
})

test('a run removes the folders that killed runs have left, and no other', async () => {
  const { run, put, left, root } = await agreed('true\n')
  const other = spawn('sh', ['-c', 'sleep 60; exit', 'ops-panel-application'])
  onTestFinished(() => void other.kill())
  put('var/tmp/ops-panel-application-killed/owner', '99999999\n')
  put('var/tmp/ops-panel-application-reused/owner', `${process.pid}\n`)
  put('var/tmp/ops-panel-application-at-work/owner', `${other.pid}\n`)
  put('opt/kept/owner', '99999999\n')
  symlinkSync(join(root, 'opt/kept'), join(root, 'var/tmp/ops-panel-application-link'))

  expect(run().status).toBe(0)

  expect(left().toSorted()).toEqual(['ops-panel-application-at-work', 'ops-panel-application-link'])
  expect(existsSync(join(root, 'opt/kept/owner'))).toBe(true)
})

test('a file that is gone ends the run before anything of it begins', async () => {
  const { shell, base } = await scriptPlace({ '/app.sh': 'echo run' })
  const { status, lines } = shell(
    RUN_SCRIPT,
    'app',
    '0',
    sha('echo run'),
    `${base}/app.sh`,
    sha(''),
    `${base}/gone.func`,
  )

  expect(status).toBe(NOT_BEGUN)
  expect(lines.at(-1)).toBe(`ops-panel: ${base}/gone.func cannot be fetched. Nothing was run.`)
  expect(lines).not.toContain('run')
})

test.each([
  ['source <(curl -fsSL @/other.func)', '@/other.func'],
  ['bash -c "$(curl -fsSL @/other.sh)"', '@/other.sh'],
  ['curl -fsSL @/hidden | bash', '@/hidden'],
  ['bash <(wget -qO- @/hidden)', '@/hidden'],
  ['eval "$(curl -s "@/hid"den)"', '@/hidden'],
  ['curl -fsSL -o "$HOME/x" @/hidden; bash "$HOME/x"', '@/hidden'],
  ['wget -q -O "$HOME/x" @/hidden; bash "$HOME/x"', '@/hidden'],
  ['cd "$HOME"; wget -q @/hidden; bash hidden', '@/hidden'],
  ['wget -q -P "$HOME/../opt" @/hidden; bash "$HOME/../opt/hidden"', '@/hidden'],
  ['wget -q --directory-prefix="$HOME/../opt" @/hidden; bash "$HOME/../opt/hidden"', '@/hidden'],
  ['cd "$HOME"; wget -q @/data.json @/hidden; bash hidden', '@/data.json'],
  ['curl -fsSL --output-dir "$HOME/../opt" -o x @/hidden; bash "$HOME/../opt/x"', '@/hidden'],
  ['cd "$HOME"; curl -fsSL @/hidden -o x @/data.json -o y; bash x', '@/hidden'],
  ['cd "$HOME"; curl -fsSL -O @/data.json -O @/hidden; bash hidden', '@/data.json'],
  ['cd "$HOME"; wget -q "@/hidden?x=1"; bash "hidden?x=1"', '@/hidden?x=1'],
  ['curl -fsSL --output-dir "$HOME" @/hidden | bash', '@/hidden'],
  ['curl -fsSL -o "$HOME/x" @/data.json @/hidden | bash', '@/data.json'],
  ['curl -fsSL -o "$HOME/x.sh" @/data.json; . "$HOME/x.sh"', '@/data.json'],
  ['wget -qO "$HOME/x.sh" @/data.json', '@/data.json'],
  ['curl -fsSL --url @/other.func', '@/other.func'],
  ['source <(curl -fsSL "$(echo @ | cut -d / -f 3)/other.func")', '@/other.func'],
  ['source <(curl -fsSL "$(echo @ | tr h H)/other.func")', '@/other.func'],
  ['source <(curl -fsSL @/pattern/x/code)', '@/pattern/x/code'],
  ['source <(curl -fsSL @/tools.func @/data.json)', '@/tools.func (among others)'],
  ['source <(curl -fsSL "@/other.func?x=1")', '@/other.func?x=1'],
])('%j does not load what nobody has agreed to, and the run ends there', async (line, told) => {
  const { run, left, base, root } = await agreed(`${line}\necho "it goes on"\ntouch "$HOME/../opt/on"\n`, {
    patterns: ['@/pattern/*/code'],
    more: {
      '/other.func': 'echo taken',
      '/other.sh': 'echo taken',
      '/hidden': '#!/usr/bin/env bash\necho taken\n',
      '/hidden?x=1': '#!/bin/sh\necho taken\n',
      '/pattern/x/code': 'echo taken',
      '/data.json': '{}',
    },
  })
  const { status, lines } = run()

  expect(status).toBe(REFUSES_CODE)
  expect(lines).not.toContain('taken')
  expect(lines).not.toContain('it goes on')
  const ending = lines
    .at(-1)
    ?.replace(/^ {2}127/, '  http://127')
    .replace('Http', 'http')
  expect(ending).toBe(`  ${told.replaceAll('@', base)}`)
  expect(existsSync(join(root, 'opt/on'))).toBe(false)
  expect(left()).toEqual([])
})

test('data go through as they are, in every way in which they are asked for', async () => {
  const bytes = '{"tag":"v2"}\n'
  const { run } = await agreed(
    [
      'cd "$HOME"',
      'echo "$(curl -fsSL @/data.json)"',
      'curl -fsSL @/data.json | cat',
      'wget -qO- @/data.json',
      'curl -fsSLo one.json @/data.json && cat one.json',
      'curl -fsSLO @/data.json && cat data.json && rm data.json',
      'wget -q @/data.json && cat data.json',
      'curl -s -o /dev/null -w "%{http_code}\\n" @/none',
      'curl -fsSL @/none 2>/dev/null || echo "failed $?"',
      'curl --silent --header "X-A: http://127.0.0.1:9/x.sh" @/data.json',
      'curl -fsSL @/big | wc -c',
      'curl -fsSL @/empty | wc -c',
    ].join('\n'),
    { more: { '/data.json': bytes, '/big': '\0'.repeat(300_000), '/empty': '' } },
  )
  const { status, lines } = run()

  const tag = '{"tag":"v2"}'
  expect(lines).toEqual([
    tag,
    tag,
    tag,
    tag,
    tag,
    tag,
    '404',
    'failed 22',
    tag,
    '300000',
    '0',
    '',
    'ops-panel: version - -> -',
  ])
  expect(status).toBe(0)
})

test.each([
  [
    'CHOICE=$(whiptail --title "UPDATE" --menu "Which one?" 11 58 2 1 A 2 B 3>&2 2>&1 1>&3)',
    '--title UPDATE --menu Which one? 11 58 2 1 A 2 B',
  ],
  ['if dialog --yesno "Go on?" 8 40; then :; fi', '--yesno Go on? 8 40'],
  ['trap "" TERM\nwhiptail --yesno "Go on?" 8 40', '--yesno Go on? 8 40'],
])(
  'a question of %j ends the run with an error, and does not hang',
  async (line, told) => {
    const { run } = await agreed(`whiptail --msgbox "Hello" 8 40\n${line}\nwhile :; do sleep 0.2; done\n`)
    const { status, lines } = run()

    expect(status).toBe(ASKS)
    expect(lines.slice(-2)).toEqual([
      'ops-panel: this update asks a question that nobody can answer here. It was stopped; run "update" in a terminal:',
      `  ${told}`,
    ])
  },
  60_000,
)

test('a read gets no answer, and the script goes its own way', async () => {
  const { run } = await agreed(
    'read -r -p "Go on? " answer || echo "none"\nread -r more </dev/tty || echo "no terminal"\nexit 3\n',
  )
  const { status, lines } = run()

  expect(lines).toContain('none')
  expect(lines).toContain('no terminal')
  expect(status).toBe(3)
})

test.each([SOURCE_CHANGED, ASKS, REFUSES_CODE, NOT_BEGUN, NOT_AGREED])(
  'a script that ends with %d by itself is told as a failed one',
  async (code) => {
    const { run } = await agreed(`exit ${code}\n`)

    expect(run().status).toBe(1)
  },
)

test('the script has nothing of the environment of the job', async () => {
  const { run } = await agreed('env | cut -d = -f 1 | sort | tr "\\n" " "\n')

  expect(run().lines[0]).toBe(
    'APT_LISTCHANGES_FRONTEND DEBIAN_FRONTEND HOME LANG LOGNAME NEEDRESTART_MODE PATH PHS_SILENT PWD SHELL SHLVL TERM USER _ ',
  )
})

test('texts are fetched with their digests; what is missing and what fails is told', async () => {
  const { shell, base } = await scriptPlace({ '/a.sh': 'echo é\n', '/long': 'x'.repeat(1024 * 1024 + 1), '/empty': '' })
  const wanted = [`${base}/a.sh`, `${base}/none`, `${base}/long`, `${base}/empty`, 'http://127.0.0.1:9/x']
  const { status, stdout } = shell(FETCH, ...wanted)

  expect(status).toBe(0)
  expect(await readFetched(stdout, wanted.length)).toEqual([
    { kind: 'file', text: Buffer.from('echo é\n'), digest: sha('echo é\n') },
    { kind: 'missing' },
    { kind: 'large' },
    { kind: 'failed', reason: 'it is empty' },
    { kind: 'failed', reason: expect.stringMatching(/connect/i) },
  ])
})

test('an answer that is cut off, that has more or less, or that does not keep its digest is none', async () => {
  const text = Buffer.from('echo\n')
  const file = `file 0 ${sha('echo\n')}\n ${text.toString('base64')}\n`

  expect(await readFetched(`${file}end\n`, 1)).toHaveLength(1)
  for (const [output, count] of [
    [file, 1],
    [`${file}end\n`, 2],
    [`${file}missing 1\nend\n`, 1],
    [`${file}missing 0\nend\n`, 2],
    [`file 0 ${sha('other')}\n ${text.toString('base64')}\nend\n`, 1],
    [`what 0\n${file}end\n`, 1],
    ['', 0],
    [`file 0\nend\n`, 1],
  ] as const)
    expect(await readFetched(output, count)).toBeUndefined()
})

test.each([
  ['another bash', `bash -c "$(curl -fsSL @/tools.func)"\ntrue\n`],
  ['a part of a pipe', `{ source <(curl -fsSL @/other.func); sleep 1; $REST; } | cat\n`],
  ['a subshell', `( source <(curl -fsSL @/other.func); sleep 1; $REST )\n`],
  [
    'a script in a file',
    `printf '#!/bin/sh\\ncurl -fsSL @/other.func | sh\\nsleep 1\\n%s\\n' '$REST' >"$HOME/x"; chmod 700 "$HOME/x"; "$HOME/x"\ntrue\n`,
  ],
  ['the background', `( source <(curl -fsSL @/other.func); sleep 1; $REST ) &\nwait\n`],
])('code that is refused in %s ends that, too, and nothing gets it from the network afterwards', async (_of, app) => {
  const rest = 'touch "$HOME/../opt/on"; curl -fsSL @/other.func | bash'
  const { run, root, left, asked } = await agreed(app.replace('$REST', rest), {
    tools: `source <(curl -fsSL @/other.func)\nsleep 1\n${rest}\n`,
    more: { '/other.func': 'touch "$HOME/../opt/on"' },
  })
  const { status } = run()
  spawnSync('sleep', ['2'])

  expect(status).toBe(REFUSES_CODE)
  expect(existsSync(join(root, 'opt/on'))).toBe(false)
  expect(asked()).not.toContain('/other.func')
  expect(left()).toEqual([])
})
