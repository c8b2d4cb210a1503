/** One service of an imitated stack: its image, the digest that it has, and the one that the registry gives; none where it does not answer. */
export interface Service {
  name: string
  image: string
  digest: string
  newest?: string
}

/** The applications of a place, beside its packages. They change as a whole, so that a snapshot keeps the former ones. */
export interface Applications {
  /** The community script behind the command `update`, with the texts that its addresses give. */
  script?: { name: string; version: string; next: string; files: Readonly<Record<string, string>>; asks?: string }
  stacks?: readonly { name: string; folder: string; services: readonly Service[] }[]
  /** Lines of `people_look` without the last one. */
  people?: readonly string[]
}

/** The addresses that the imitated scripts have. */
const BASE = 'https://raw.githubusercontent.com/community-scripts/ProxmoxVE/main'

/** The text of a script in the form of the community scripts, with two files that it loads, and one whose address only a run knows. */
function scriptOf(app: string, title: string, next: string): string {
  return `#!/usr/bin/env bash
source <(curl -fsSL ${BASE}/misc/build.func)
# Updates ${title} in its container.

APP="${title}"
var_tags="\${var_tags:-documents}"
var_cpu="\${var_cpu:-2}"
var_ram="\${var_ram:-2048}"

header_info "$APP"
variables
color
catch_errors

function update_script() {
  header_info
  check_container_storage
  check_container_resources
  if [[ ! -d /opt/${app} ]]; then
    msg_error "No \${APP} Installation Found!"
    exit
  fi
  if check_for_gh_release "${app}" "example/${app}"; then
    msg_info "Stopping ${title}"
    systemctl stop ${app}
    msg_ok "Stopped ${title}"

    msg_info "Creating a copy of its data"
    cp -a /opt/${app}/data /opt/${app}_data
    msg_ok "Created a copy of its data"

    fetch_and_deploy_gh_release "${app}" "example/${app}" "tarball" "${next}" "/opt/${app}"
    cd /opt/${app} || exit
    $STD ./migrate.sh --quiet
    mv /opt/${app}_data /opt/${app}/data

    msg_info "Starting ${title}"
    systemctl start ${app}
    msg_ok "Started ${title}"
    msg_ok "Updated successfully!"
  fi
  exit
}

start
`
}

/** A file of functions that is loaded by others. */
function functionsOf(name: string, names: readonly string[], loads: readonly string[] = []): string {
  const bodies = names.map(
    (each) => `${each}() {\n  local message="\${1:-}"\n  printf ' %s  %s\\n' "${each}" "$message"\n}\n`,
  )
  return `# ${name}: functions of every script.\n\n${[...loads, ...bodies].join('\n')}`
}

function filesOf(app: string, title: string, next: string): Record<string, string> {
  return {
    [`${BASE}/ct/${app}.sh`]: scriptOf(app, title, next),
    [`${BASE}/misc/build.func`]: functionsOf(
      'build.func',
      ['variables', 'header_info', 'check_container_storage', 'check_container_resources', 'start'],
      [
        `source <(curl -fsSL ${BASE}/misc/core.func)`,
        `source <(curl -fsSL ${BASE}/misc/tools.func)`,
        'source <(curl -fsSL "https://git.community-scripts.example/$var_branch/misc/extra.func")',
      ],
    ),
    [`${BASE}/misc/core.func`]: functionsOf('core.func', ['color', 'catch_errors', 'msg_info', 'msg_ok', 'msg_error']),
    [`${BASE}/misc/tools.func`]: functionsOf('tools.func', ['check_for_gh_release', 'fetch_and_deploy_gh_release']),
  }
}

/** A container with a community script; `asks` is a question with which its update ends. */
export function withScript(
  app: string,
  title: string,
  [version, next]: readonly [version: string, next: string],
  asks?: string,
): Applications {
  return { script: { name: app, version, next, files: filesOf(app, title, next), ...(asks !== undefined && { asks }) } }
}

const service = (name: string, image: string, digest: string, newest?: string): Service => ({
  name,
  image,
  digest,
  ...(newest !== undefined && { newest }),
})

/** Two stacks: one has newer images, and all of the other one are the newest. */
export const OF_VAULTWARDEN: Applications = {
  stacks: [
    {
      name: 'vaultwarden',
      folder: '/opt/vaultwarden',
      services: [service('caddy', 'caddy:2', 'a', 'b'), service('vaultwarden', 'vaultwarden/server:latest', 'c', 'd')],
    },
    { name: 'dozzle', folder: '/opt/dozzle', services: [service('dozzle', 'amir20/dozzle:v8', 'e', 'e')] },
  ],
}

/** A stack of which one registry does not answer. */
export const OF_RUNNER: Applications = {
  stacks: [
    {
      name: 'runners',
      folder: '/srv/runners',
      services: [
        service('runner', 'gitea/act_runner:0.2', 'f', 'g'),
        service('cache', 'registry.example.internal/build/cache:stable', 'h'),
      ],
    },
  ],
  people: [
    'flatpak|com.github.tchx84.Flatseal/x86_64/stable|2.3.1|7f9c2ba4e88f',
    'flatpak|org.gnome.Platform/x86_64/48|-|0c1d2e3f4a5b',
    'flatpak_newer|org.gnome.Platform/x86_64/48|-|9a8b7c6d5e4f',
    'snap|core24|20250829|1151',
    'snap|lxd|5.21.4-1374f39|35624',
    'snap_newer|lxd|5.21.4-8a3cf51|36020',
  ],
}
