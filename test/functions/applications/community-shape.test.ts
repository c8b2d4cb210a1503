import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { codeIn, type Variables } from '../../../functions/applications/code-addresses.ts'
import { ASKS, REFUSES_CODE, RUN_SCRIPT, SOURCE_CHANGED } from '../../../functions/applications/run-script.ts'
import { scriptPlace } from './script-place.ts'

/*
 * Texts in the shape of the community scripts: a script of an application loads the framework, which loads its parts, and
 * at its end calls `start`, which loads the tools and calls the update. The framework traps every error, clears the screen
 * and downloads a heading as data.
 */
const APP = `#!/usr/bin/env bash
SCRIPTS_URL="\${SCRIPTS_URL:-\${SCRIPT_URL:-@}}"
source <(curl -fsSL "$SCRIPTS_URL/misc/build.func")
# Source: https://example/app
APP="Demo"
var_tags="\${var_tags:-web}"
heading "$APP"
catch_all
function update_script() {
  heading
  if [[ ! -d /etc ]]; then
    say_error "No \${APP} Installation Found!"
    exit
  fi
  if newer_release "demo"; then
    say "Stopping"
    RELEASE=$(curl -fsSL @/api/latest | grep -o '[0-9.]*')
    curl -fsSL "@/files/demo-\${RELEASE}.bin" -o "$WHERE/opt/demo"
    echo "$RELEASE" >"$WHERE/root/.demo"
    say "Updated successfully!"
  fi
  exit
}
start
build_container
`

const BUILD = `variables() { :; }
source <(curl -fsSL @/misc/api.func)
if command -v curl >/dev/null 2>&1; then
  source <(curl -fsSL @/misc/core.func)
elif command -v wget >/dev/null 2>&1; then
  source <(wget -qO- @/misc/core.func)
fi
start() {
  source <(curl -fsSL @/misc/tools.func)
  if command -v pveversion >/dev/null 2>&1; then
    install_script
  elif [ "\${PHS_SILENT:-0}" == "1" ]; then
    VERBOSE="no"
    update_script
  else
    CHOICE=$(whiptail --title "Demo LXC" --menu "Support" 12 60 3 "1" "YES" "2" "NO" 3>&2 2>&1 1>&3)
    update_script
  fi
}
build_container() {
  FUNCTIONS="$(curl -fsSL @/misc/install.func)"
  bash -c "$(curl -fsSL @/install/\${var_install}.sh)"
}
`

const CORE = `WHERE=$(dirname "$HOME")
say() { echo -e "\\e[1;92m$1\\e[m"; }
say_error() { echo -e "\\e[01;31m$1\\e[m" >&2; }
on_error() { say_error "in line $2: exit code $1"; exit "$1"; }
catch_all() { set -Eeuo pipefail; trap 'on_error $? $LINENO' ERR; trap 'exit 143' TERM; }
heading() { clear; curl -fsSL @/headers/demo -o "$WHERE/opt/heading" && cat "$WHERE/opt/heading"; }
`

const TOOLS = `newer_release() { [ "$(curl -fsSL @/api/latest | grep -o '[0-9.]*')" != "$(cat "$WHERE/root/.$1")" ]; }
setup_node() { curl -fsSL https://node.example/setup_22.x | bash -; }
`

const TEXTS: Record<string, string> = {
  '/app.sh': APP,
  '/misc/build.func': BUILD,
  '/misc/api.func': 'report() { curl -s -m 2 -X POST @/telemetry -d "{}" >/dev/null || true; }\n',
  '/misc/core.func': CORE,
  '/misc/tools.func': TOOLS,
  '/misc/install.func': 'source <(curl -fsSL @/misc/core.func)\n',
}
const DATA = { '/api/latest': '{"tag":"2.1.0"}\n', '/files/demo-2.1.0.bin': 'the program\n', '/headers/demo': 'DEMO\n' }

/** The container, the addresses that the texts load, and a run of all of them. */
async function shaped(texts: Record<string, string> = {}) {
  const all = { ...TEXTS, ...texts }
  const place = await scriptPlace({ ...all, ...DATA })
  place.put('root/.demo', '2.0.0\n')
  const known: Variables = new Map()
  const found = ['/app.sh']
  const patterns = new Set<string>()
  for (const path of found) {
    const loads = codeIn((all[path] ?? '').replaceAll('@', place.base), known)
    for (const address of loads.addresses.filter((each) => each.startsWith(place.base))) {
      const next = address.slice(place.base.length)
      if (!found.includes(next)) found.push(next)
    }
    for (const pattern of loads.patterns) patterns.add(pattern)
  }
  const files = found.flatMap((path) => {
    const text = (all[path] ?? '').replaceAll('@', place.base)
    return [createHash('sha256').update(text).digest('hex'), place.base + path]
  })
  const run = () => place.shell(RUN_SCRIPT, 'demo', String(patterns.size), ...patterns, ...files)
  return { ...place, found, patterns: [...patterns], run }
}

test('all code of such a script is found, and what only an installation loads is a pattern', async () => {
  const { found, patterns, base } = await shaped()

  expect(found.toSorted()).toEqual(Object.keys(TEXTS).toSorted())
  expect(patterns).toEqual([`${base}/install/*.sh`])
})

test('such a script updates its application from the agreed texts, with its data from the network', async () => {
  const { run, asked, forget, root } = await shaped()
  forget()
  const { status, stdout } = run()

  expect(stdout).toContain('Updated successfully!')
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('ops-panel: version 2.0.0 -> 2.1.0')
  expect(status).toBe(0)
  expect(existsSync(join(root, 'opt/demo'))).toBe(true)
  // Each text once, before the run; the run itself asks for data alone.
  expect(asked().filter((path) => path in TEXTS)).toHaveLength(Object.keys(TEXTS).length)
})

test('an older framework, which asks before it updates, ends with an error instead of a question', async () => {
  const older = BUILD.replace(`"\${PHS_SILENT:-0}" == "1"`, '0 == 1')
  const { run, root } = await shaped({ '/misc/build.func': older })
  const { status, lines } = run()

  expect(status).toBe(ASKS)
  expect(lines.at(-1)).toContain('--title Demo LXC --menu Support')
  expect(existsSync(join(root, 'opt/demo'))).toBe(false)
})

test('a failed download of data ends such a script with its own error', async () => {
  const { run } = await shaped({ '/misc/core.func': CORE.replace('/headers/demo', '/headers/none') })

  expect(run().status).not.toBe(0)
})

test('an installer that the framework pipes into a quiet shell is agreed to, and runs as it was read', async () => {
  const quiet = `STD=silent
silent() { $* >>"$WHERE/opt/log" 2>&1; }
newer_release() {
  curl -fsSL @/setup | $STD bash -s -- -y "$WHERE/opt/tool"
  [ "$(cat "$WHERE/root/.$1")" != 2.1.0 ]
}
`
  const installer = '#!/usr/bin/env bash\necho "read $1" >"$2"\n'
  const { run, serve, asked, found, root } = await shaped({ '/misc/tools.func': quiet, '/setup': installer })
  expect(found).toContain('/setup')
  const { status, stdout } = run()

  expect(stdout).toContain('Updated successfully!')
  expect(status).toBe(0)
  expect(readFileSync(join(root, 'opt/tool'), 'utf8')).toBe('read -y\n')
  expect(asked().filter((path) => path === '/setup')).toHaveLength(1)

  serve('/setup', `${installer}echo taken >"$2"\n`)
  expect(run().status).toBe(SOURCE_CHANGED)
})

test('a container with less than the script wants is left alone, and the code of the script tells it', async () => {
  const asks = `${TOOLS}heading() {
  if [ "\${PHS_SILENT:-0}" = 1 ]; then say_error "too little memory"; exit 113; fi
  read -r -p "Go on? " answer
}
`
  const { run, root } = await shaped({ '/misc/tools.func': asks })
  const { status, lines } = run()

  expect(status).toBe(113)
  expect(lines).toContain('\u001B[01;31mtoo little memory\u001B[m')
  expect(existsSync(join(root, 'opt/demo'))).toBe(false)
})

test('a framework that computes what it loads, many files at once, is stopped before it has any of them', async () => {
  const engine = `URL="\${ENGINE_URL:-@}"
FILES=(core/core.func lib/tools.func)
args=()
for file in \${FILES[*]}; do args+=(-o "$HOME/\${file##*/}" "$URL/$file"); done
curl -fsSL --parallel --parallel-immediate --retry 3 --max-time 60 \${args[*]} 2>/dev/null || true
for file in \${FILES[*]}; do source "$HOME/\${file##*/}"; done
`
  const { run, root, base } = await shaped({ '/misc/build.func': engine, '/core/core.func': ': >"$HOME/taken"\n' })
  const { status, lines } = run()

  expect(status).toBe(REFUSES_CODE)
  expect(lines.at(-1)).toBe(`  ${base}/core/core.func`)
  expect(existsSync(join(root, 'root/core.func'))).toBe(false)
  expect(existsSync(join(root, 'root/taken'))).toBe(false)
})
