import { expect, test } from 'vitest'
import { COMMUNITY_LOOK, communityScript } from '../../../functions/applications/community-look.ts'
import { scriptPlace } from './script-place.ts'

const ADDRESS = 'https://raw.githubusercontent.com/community-scripts/ProxmoxVE/main/ct/vaultwarden.sh'
const LOADS = `bash -c "$(curl -fsSL ${ADDRESS})"`

async function look(update: string | undefined, files: Record<string, string> = {}) {
  const place = await scriptPlace()
  if (update !== undefined) place.put('usr/bin/update', update)
  for (const [path, text] of Object.entries(files)) place.put(path, text)
  const { status, lines, stderr } = place.shell(`${COMMUNITY_LOOK}\ncommunity_script`)
  expect([status, stderr]).toEqual([0, ''])
  return lines
}

test.each([
  [LOADS],
  [`${LOADS}\n`],
  [`#!/usr/bin/env bash\n\n# made by the installation\n${LOADS}\n`],
  [`bash -c "$(wget -qLO - ${ADDRESS})"`],
  [`bash -c "$(wget -qO- ${ADDRESS})"`],
  [`sh -c "$(curl -s '${ADDRESS}')"`],
  [
    `#!/usr/bin/env bash\nset -a; [ -f /etc/profile.d/90-http-proxy.sh ] && . /etc/profile.d/90-http-proxy.sh; set +a\n${LOADS}`,
  ],
  [
    `#!/bin/bash\nset -a\n[ -f /etc/profile.d/90-http-proxy.sh ] && . /etc/profile.d/90-http-proxy.sh\nset +a\n${LOADS}\r\n`,
  ],
])('the command %j is found with its address', async (update) => {
  expect(await look(update)).toEqual([`community_script|vaultwarden|-|${ADDRESS}|whole`])
})

const BASE = ADDRESS.replace('/ct/vaultwarden.sh', '')
const EXPORTS = `export SCRIPT_SLUG="vaultwarden"\nexport UPDATE_SCRIPT_NAME="vaultwarden"\nexport COMMUNITY_SCRIPTS_URL="${BASE}"\n`
const COMPUTED = `bash -c "$(curl -fsSL "\${COMMUNITY_SCRIPTS_URL}/ct/\${UPDATE_SCRIPT_NAME}.sh")"\n`

test.each([
  [`#!/usr/bin/env bash\n# generated\n${EXPORTS}${COMPUTED}`, 'whole'],
  [`${EXPORTS}export PATH="/tmp"\n${COMPUTED}`, 'changed'],
  [`${EXPORTS}export SCRIPT_SLUG="$(id)"\n${COMPUTED}`, 'changed'],
  [`${EXPORTS}export SCRIPT_SLUG="other"\n${COMPUTED}`, 'changed'],
  [`${EXPORTS}rm -rf /; ${COMPUTED}`, 'changed'],
  [
    `${EXPORTS}if helper="$(curl -fsSL "\${CORE}/misc/update.sh")"; then bash -c "$helper"; else ${COMPUTED}fi\n`,
    'changed',
  ],
])('of %j, whose address is put together, the address is found, and %s', async (update, state) => {
  expect(await look(update)).toEqual([`community_script|vaultwarden|-|${ADDRESS}|${state}`])
})

test.each([
  [`${COMPUTED}`],
  [`${EXPORTS.replace(BASE, 'https://me:secret@forge.example')}${COMPUTED}`],
  [`${EXPORTS.replace(BASE, 'file:///root')}${COMPUTED}`],
])('of %j no address is known', async (update) => {
  expect(await look(update)).toEqual([])
})

test('a command that does more than its script is found, but not updated by the panel', async () => {
  const [line = ''] = await look(`systemctl stop backup\n${LOADS}\n`)

  expect(line).toBe(`community_script|vaultwarden|-|${ADDRESS}|changed`)
  expect(communityScript(line)).toMatchObject({ id: 'community_script:vaultwarden', updatable: false })
})

test.each([
  [undefined],
  [''],
  ['#!/bin/bash\ncd /opt/app && git pull\n'],
  [`${LOADS}\n${LOADS}\n`],
  ['bash -c "$(curl -fsSL https://me:secret@forge.example/ct/app.sh)"'],
  ['bash -c "$(curl -fsSL https://forge.example/ct/app.sh?token=secret)"'],
  ['bash -c "$(curl -fsSL https://forge.example/$(id).sh)"'],
  ['bash -c "$(curl -fsSL -H "Authorization: secret" https://forge.example/ct/app.sh)"'],
  ['bash -c "$(curl -fsSL file:///root/app.sh)"'],
  [`${'#'.repeat(5000)}\n${LOADS}`],
  [`${LOADS}\n${'\0'.repeat(5000)}\nsystemctl stop backup\n`],
  [`${LOADS}\n${'\r'.repeat(5000)}\nsystemctl stop backup\n`],
])('the command %j is none of the community scripts, and nothing of it leaves the container', async (update) => {
  expect(await look(update)).toEqual([])
})

test.each([
  [{ 'root/.vaultwarden': '1.33.2\n' }, '1.33.2'],
  [{ 'opt/Vaultwarden_version.txt': 'v1.32.0' }, 'v1.32.0'],
  [{ 'root/.vaultwarden': '2.0.0+ce-1~rc1', 'opt/Vaultwarden_version.txt': '1' }, '2.0.0+ce-1~rc1'],
  [{ 'opt/Other_version.txt': '9' }, '-'],
  [{ 'root/.vaultwarden': 'a b\tc' }, '-'],
  [{ 'root/.vaultwarden': '$(id)' }, '-'],
  [{ 'root/.vaultwarden': '' }, '-'],
])('of the files %j, the version is %s', async (files, version) => {
  expect(await look(LOADS, files)).toEqual([`community_script|vaultwarden|${version}|${ADDRESS}|whole`])
})

test('the reader takes nothing else for an application', () => {
  expect(communityScript(`community_script|vaultwarden|1.0|${ADDRESS}|whole`)).toEqual({
    id: 'community_script:vaultwarden',
    kind: 'community_script',
    name: 'vaultwarden',
    version: '1.0',
    available: null,
    source: { address: ADDRESS, digest: null },
    updatable: true,
  })
  for (const line of [
    '',
    `community_script|vaultwarden|1.0|${ADDRESS}`,
    `community_script|vaultwarden|1.0|${ADDRESS}|whole|more`,
    `community_script|../x|1.0|${ADDRESS}|whole`,
    `community_script|vaultwarden||${ADDRESS}|whole`,
    `community_script|vaultwarden|1.0|javascript:alert(1)|whole`,
    `community_script|vaultwarden|1.0|https://me:secret@forge.example/a.sh|whole`,
    `community_script|vaultwarden|1.0|https://forge.example/${'a'.repeat(300)}|whole`,
  ])
    expect(communityScript(line)).toBeUndefined()
})
