import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import * as z from 'zod'
import { checkingAs } from './checking.ts'
import type { Caller } from './client.ts'
import { type Container, POLICY, protectingAs, within } from './protecting.ts'
import { jobFolders, jobProcesses } from './remains.ts'
import { rig } from './rig.ts'
import { SITE, type Site } from './site.ts'

const REPOSITORY = '/community-scripts/ProxmoxVE/main'
/** The script of rig-app, by which it is updated. */
export const SCRIPT = `${REPOSITORY}/ct/rig-app.sh`
export const ADDRESS = `https://${SITE}${SCRIPT}`
export const ID = 'community_script:rig-app'
const RELEASES = '/rig/rig-app/releases'

/** The paths of all code that an update of rig-app loads. */
export const CODE = [SCRIPT, ...['build', 'api', 'core', 'install', 'tools'].map((name) => pathOf(name))]

export function pathOf(name: string): string {
  return `${REPOSITORY}/misc/${name}.func`
}

/** The work of an update between the version that it finds and the one that it notes. */
interface Update {
  /** The version of the release. */
  to?: string
  /** Lines of the script before anything changes. */
  before?: string
  /** Lines of the script after the release is in its place, before the service starts. */
  during?: string
  /** The program of the release; by default it listens. */
  program?: string
}

const LISTENS = '#!/bin/sh\nexec /usr/local/sbin/rig-listener 8080\n'

/** Texts in the shape of the community scripts: one of the application, which loads a framework, which loads its parts. */
function textsOf({ before = '', during = '' }: Update): Record<string, string> {
  const load = (name: string) => `source <(curl -fsSL https://${SITE}${pathOf(name)})`
  return {
    [SCRIPT]: `#!/usr/bin/env bash
${load('build')}
# Source: https://github.com/rig/rig-app
APP="Rig-App"
var_tags="\${var_tags:-web}"
var_cpu="\${var_cpu:-1}"
header_info "$APP"
color
catch_errors

function update_script() {
  header_info "$APP"
  if [[ ! -d /opt/rig-app ]]; then
    msg_error "No \${APP} Installation Found!"
    exit
  fi
  if check_for_gh_release "rig-app" "rig/rig-app"; then
${before}
    msg_info "Stopping the service"
    systemctl stop rig-app
    fetch_and_deploy_gh_release "rig-app" "rig/rig-app"
${during}
    systemctl start rig-app
    msg_ok "Updated successfully!"
  fi
  exit
}

start
build_container
`,
    [pathOf('build')]: `${load('api')}
if command -v curl >/dev/null 2>&1; then
  ${load('core')}
elif command -v wget >/dev/null 2>&1; then
  source <(wget -qO- https://${SITE}${pathOf('core')})
fi
start() {
  ${load('tools')}
  if command -v pveversion >/dev/null 2>&1; then
    install_script
  elif [ "\${PHS_SILENT:-0}" == "1" ]; then
    VERBOSE=no
    update_script
  else
    CHOICE=$(whiptail --title "\${APP} LXC Update" --menu "Support" 12 60 3 "1" "YES" "2" "NO" 3>&2 2>&1 1>&3)
    update_script
  fi
}
build_container() {
  FUNCTIONS="$(curl -fsSL https://${SITE}${pathOf('install')})"
  lxc-attach -n "$CTID" -- bash -c "$(curl -fsSL https://${SITE}${REPOSITORY}/install/\${var_install}.sh)"
}
`,
    [pathOf('api')]: 'post_update_to_api() { :; }\n',
    [pathOf('core')]: `color() { GN=$'\\e[1;92m' RD=$'\\e[01;31m' CL=$'\\e[m'; }
catch_errors() { set -Eeuo pipefail; trap 'on_error $? $LINENO' ERR; }
on_error() { echo "\${RD}in line $2: exit code $1\${CL}"; exit "$1"; }
header_info() { clear; echo "  $1"; }
msg_info() { echo "  - $1"; }
msg_ok() { echo "\${GN}  ok $1\${CL}"; }
msg_error() { echo "\${RD}  no $1\${CL}" >&2; }
`,
    [pathOf('install')]: load('core'),
    [pathOf('tools')]: `check_for_gh_release() {
  release=$(curl -fsSL "https://${SITE}${RELEASES}/latest" | sed -n 's/.*"tag_name": *"\\([^"]*\\)".*/\\1/p')
  if [[ "$release" == "$(cat "$HOME/.$1" 2>/dev/null)" ]]; then
    msg_ok "No update available: $1 $release"
    return 1
  fi
}
fetch_and_deploy_gh_release() {
  msg_info "Fetching $1 $release"
  curl -fsSL "https://${SITE}${RELEASES}/$1-$release.tar.gz" -o "/tmp/$1.tar.gz"
  tar -xzf "/tmp/$1.tar.gz" -C "/opt/$1"
  rm -f "/tmp/$1.tar.gz"
  echo "$release" >"$HOME/.$1"
}
`,
  }
}

/** Puts an update of rig-app to version 2.0 on a site: its code, its release, and the answer that names it. */
export function offerUpdate(site: Site, update: Update = {}): void {
  const { to = '2.0', program = LISTENS } = update
  for (const [path, text] of Object.entries(textsOf(update))) site.put(path, text)
  site.put(`${RELEASES}/latest`, JSON.stringify({ tag_name: to }, null, 1))
  site.put(`${RELEASES}/rig-app-${to}.tar.gz`, archive({ 'rig-app': program, version: `${to}\n` }))
  site.forget()
}

function archive(files: Record<string, string>): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'ops-panel-release-'))
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o755 })
    return execFileSync('tar', ['-cz', '--owner=root', '--group=root', '-C', folder, ...Object.keys(files)])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A new container with rig-app 1.0 and the command `update`. */
export async function withApplication(site: Site, container: Container = '101'): Promise<void> {
  await rig('reset', container)
  await rig('app', container, 'on', ADDRESS)
  await site.join(container)
}

const Source = z.object({
  address: z.string(),
  digest: z.string(),
  files: z.array(z.object({ address: z.string(), digest: z.string(), size: z.number(), text: z.string() })),
  refused: z.array(z.string()),
  agreed: z.boolean(),
})
const Listed = z.object({
  applications: z.array(
    z.looseObject({
      id: z.string(),
      version: z.string().nullable(),
      source: z.looseObject({ address: z.string(), digest: z.string().nullable(), agreed: z.boolean() }).nullable(),
      updatable: z.boolean(),
    }),
  ),
})
const Started = z.object({ job_id: z.string(), message: z.string() })

/** Without a snapshot and a comparison, a run takes no more time than its script. */
export const UNPROTECTED = { ...POLICY, before: 'none' }

/** rig-app in one container, as a caller updates it. */
export function updatingAs(caller: Caller, container: Container = '101') {
  const target = `lxc:${container}`
  const of = { target, id: ID }
  const path = '/api/updates/applications'
  const own = protectingAs(caller, container)
  const { check } = checkingAs(caller)
  const list = async () => {
    const { status, body } = await caller.get(`${path}?target=${target}`)
    expect(status).toBe(200)
    return Listed.parse(body).applications
  }
  const source = () => caller.post(`${path}/source`, of)
  const agree = (digest: string) => caller.put(`${path}/agreement`, { ...of, digest })
  const run = (digest: string, protection: object = UNPROTECTED) =>
    caller.post(`${path}/run`, { ...of, digest, protection })
  /** Checks the container, reads what an update would run, and agrees to it. Returns its digest. */
  const agreed = async () => {
    const { packages, ...checked } = await check(target)
    const { status, body } = await source()
    if (status !== 200) throw new Error(`source: ${status} ${JSON.stringify({ body, checked })}`)
    const { digest } = Source.parse(body)
    expect((await agree(digest)).status).toBe(200)
    return digest
  }
  const begin = async (digest: string, protection: object = UNPROTECTED) => {
    const { status, body } = await run(digest, protection)
    if (status !== 202) throw new Error(`run: ${status} ${JSON.stringify(body)}`)
    return Started.parse(body).job_id
  }
  return {
    ...own,
    check: () => check(target),
    list,
    source,
    shown: async () => Source.parse((await source()).body),
    agree,
    agreed,
    run,
    /** Starts an update of what was agreed to, and returns the id of its job. */
    begin,
    /** Agrees to an update, runs it, and returns the record of its job. */
    update: async (protection: object = UNPROTECTED) => own.ended(await begin(await agreed(), protection)),
  }
}

/** The version that the application notes, the one of its program, and the state of its service. */
export const stateOfApp = (at: Container = '101') =>
  within(at, 'cat /root/.rig-app /opt/rig-app/version; systemctl is-active rig-app || true')

export const OLD = '1.0\n1.0\nactive'
export const NEW = '2.0\n2.0\nactive'

/** Expects that neither the host nor a container has a folder or a process of a run any more. */
export async function expectNoRemains(...containers: Container[]): Promise<void> {
  await expect.poll(jobFolders, { timeout: 15_000 }).toBe('')
  const processes = async () =>
    [...(await jobProcesses()), ...(await rig('in', 'host', 'ps', '-eww', '-o', 'args=')).split('\n')].filter((args) =>
      /ops-panel-(application|source|health)|rig-app\.sh|whiptail/.test(args),
    )
  await expect.poll(processes, { timeout: 15_000 }).toEqual([])
  for (const id of containers) expect(await within(id, `find /tmp /var/tmp /run /root -name '*ops-panel*'`)).toBe('')
}
