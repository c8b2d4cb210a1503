import { expect, test } from 'vitest'
import { codeIn, type Variables } from '../../../functions/applications/code-addresses.ts'

const BASE = 'https://raw.example/main'

test.each([
  [`source <(curl -fsSL ${BASE}/misc/build.func)`],
  [`source <(curl -fsSL "${BASE}/misc/build.func")`],
  [`  . <(wget -qO- '${BASE}/misc/build.func') 2>/dev/null || true`],
  [`bash -c "$(curl -fsSL ${BASE}/misc/build.func)"`],
  [`bash -c "$(wget -qLO - ${BASE}/misc/build.func)" || exit`],
  [`bash <(curl -s ${BASE}/misc/build.func) --unattended`],
  [`eval "$(curl -fsSL ${BASE}/misc/build.func)"`],
  [`source /dev/stdin <<<"$(curl -fsSL ${BASE}/misc/build.func)"`],
  [`source /dev/stdin <<<$(curl -fsSL ${BASE}/misc/build.func)`],
  [`FUNCTIONS="$(curl -fsSL ${BASE}/misc/build.func)"`],
  [`curl -fsSL ${BASE}/misc/build.func | bash`],
  [`curl -fsSL ${BASE}/misc/build.func | sudo -E bash -s -- -y`],
  [`curl -fsSL \\\n  ${BASE}/misc/build.func |\\\n  sh`],
  [`$STD curl -fsSL -o /tmp/x.sh ${BASE}/misc/build.func; bash /tmp/x.sh`],
  [`URL="${BASE}"\nsource <(curl -fsSL "$URL/misc/build.func")`],
  [`URL="\${URL:-\${OTHER:-${BASE}}}"\nsource <(curl -fsSL "\${URL}/misc/build.func")`],
  [`URL="\${URL:-${BASE}}"\nsource <(curl -fsSL "\${URL}"/misc/build.func)`],
  [`source <(curl -fsSL '${BASE}'"/misc/"build.func)`],
  [
    `source "$(dirname "\${BASH_SOURCE[0]}")/../misc/build.func" 2>/dev/null || source <(curl -fsSL "\${URL:-${BASE}}/misc/build.func")`,
  ],
  [`export URL='${BASE}'\nif true; then source <(curl -fsSL $URL/misc/build.func); fi`],
])('%j loads the code of one address', (text) => {
  expect(codeIn(text)).toEqual({ addresses: [`${BASE}/misc/build.func`], patterns: [] })
})

test.each([
  ['curl -fsSL https://bun.example/install | bash', 'https://bun.example/install'],
  ['curl -fsSL https://nodesource.example/setup_22.x | bash -', 'https://nodesource.example/setup_22.x'],
  ['curl https://pyenv.example/get | python3 -', 'https://pyenv.example/get'],
  ["curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.example | sh -s -- -y", 'https://sh.rustup.example'],
  ['curl_with_retry "https://mise.example/get" "-" | sh', 'https://mise.example/get'],
  ['curl -fsSL https://bun.example/install | $STD bash', 'https://bun.example/install'],
  [`  $STD curl -fsSL https://nodesource.example/setup | \${STD} bash -`, 'https://nodesource.example/setup'],
  [
    'curl -fsSL https://sh.rustup.example | $STD sh -s -- -y --default-toolchain "$RUST" || {',
    'https://sh.rustup.example',
  ],
  ['curl -fsSL https://deno.example/install | DENO_INSTALL=/usr/local $STD sh', 'https://deno.example/install'],
  ['curl -fsSL https://get.docker.example -o get-docker.sh\nsh get-docker.sh', 'https://get.docker.example'],
  ['wget -qO "$TMP/install.sh" https://get.app.example/latest', 'https://get.app.example/latest'],
  [
    'curl -fsSL https://get.app.example/latest >/tmp/install.sh && bash /tmp/install.sh',
    'https://get.app.example/latest',
  ],
  ['curl -fsSL https://get.app.example/latest 2>/dev/null > "$TMP/install.sh"', 'https://get.app.example/latest'],
  ['sh <(curl -fsSL https://get.docker.example)', 'https://get.docker.example'],
])('%j loads code whatever its name is', (text, address) => {
  expect(codeIn(text)).toEqual({ addresses: [address], patterns: [] })
})

test.each([
  [`# source <(curl -fsSL ${BASE}/misc/build.func)`],
  ['RELEASE=$(curl -fsSL https://api.example/repos/a/b/releases/latest | jq -r .tag_name)'],
  ['curl -fsSL https://files.example/app.tar.gz | tar xz -C /opt'],
  ['curl -fsSL -o /opt/app.zip "https://files.example/$RELEASE/app.zip"'],
  ['wget -q https://files.example/app.deb'],
  ['curl -fsSL https://files.example/list -o /etc/apt/sources.list.d/app.list && bash /opt/app/after.sh'],
  ['curl -fsSL https://files.example/app.tar.gz > /tmp/app.tar.gz'],
  ['curl -fsSL https://keys.example/key.asc | gpg --dearmor -o /etc/apt/keyrings/app.gpg'],
  ['echo "see https://example/install.sh"'],
  ['command -v curl >/dev/null || apt-get install -y curl'],
  ['for tool in curl wget; do :; done'],
])('%j loads no code', (text) => {
  expect(codeIn(text)).toEqual({ addresses: [], patterns: [] })
})

test.each([
  [`bash -c "$(curl -fsSL ${BASE}/install/\${var_install}.sh)"`, `${BASE}/install/*.sh`],
  ['source <(curl -fsSL "$BASE_URL/misc/tools.func")', '*/misc/tools.func'],
  [`URL=${BASE}\nURL=https://other.example\nsource <(curl -fsSL $URL/misc/tools.func)`, '*/misc/tools.func'],
  [`curl -fsSL ${BASE}/$(id -u)/setup | bash`, `${BASE}/*/setup`],
  [`curl -fsSL "${BASE}/setup?x=[a]" | bash`, `${BASE}/setup*x=*a*`],
])('of %j only a pattern is known', (text, pattern) => {
  expect(codeIn(text)).toEqual({ addresses: [], patterns: [pattern] })
})

test('an address that is all variable is no pattern, and one with credentials or a port out of range no address', () => {
  expect(codeIn('source <(curl -fsSL "$1")')).toEqual({ addresses: [], patterns: [] })
  expect(codeIn('source <(curl -fsSL https://me:secret@forge.example/a.func)').addresses).toEqual([])
})

test('a variable of a loading script counts in the loaded one, unless both set it otherwise', () => {
  const known: Variables = new Map()
  codeIn(`URL=${BASE}`, known)

  expect(codeIn('source <(curl -fsSL $URL/tools.func)', known).addresses).toEqual([`${BASE}/tools.func`])
  codeIn('URL=https://other.example', known)
  expect(codeIn(`source <(curl -fsSL \${URL:-https://third.example}/tools.func)`, known)).toEqual({
    addresses: [],
    patterns: ['*/tools.func'],
  })
})

test('hostile texts take no time and no more than their bounds', () => {
  const began = performance.now()
  const many = Array.from({ length: 5_000 }, (_, at) => `source <(curl -fsSL ${BASE}/${at}.func)`).join('\n')
  expect(codeIn(many).addresses).toHaveLength(200)
  for (const text of [
    `curl ${'a'.repeat(500_000)}`,
    `curl ${'-o '.repeat(200_000)}`,
    `${'$'.repeat(500_000)}`,
    `A="${'${A:-'.repeat(100_000)}"`,
    `source <(curl ${'${A:-'.repeat(100_000)}`,
    'curl "'.repeat(100_000),
    `${'bash -c '.repeat(100_000)}curl x`,
    `${'bash - - - - '.repeat(100)}curl x`,
    `source <(curl ${'\\"'.repeat(1_000)}`,
  ])
    codeIn(text)
  expect(performance.now() - began).toBeLessThan(10_000)
})

test.each(['curl ', 'bash - curl ', 'sh - - - curl $A ', `curl "\${A}" `, "curl '", 'curl $A | sh '])(
  'a mebibyte of %j does not keep the service from its other work',
  (words) => {
    const line = `${words.repeat(Math.floor(1_999 / words.length))}\n`
    const text = line.repeat(Math.floor(1_048_576 / line.length))
    const began = performance.now()
    codeIn(text, new Map([['A', `https://x.example/${'z'.repeat(200)}`]]))

    expect(performance.now() - began).toBeLessThan(3_000)
  },
)

test('variables that multiply each other, and lines that are made to be looked at for long, cost nothing', () => {
  const grown = [`A0="https://forge.example/${'a'.repeat(1500)}"`]
  for (let level = 1; level <= 8; level += 1) grown.push(`A${level}="${`$A${level - 1}`.repeat(20)}"`)
  grown.push('curl -fsSL "$A8" | bash')
  const nested = `${'-sh '.repeat(350)}${'curl $A '.repeat(20)}| `
  const began = performance.now()

  const found = codeIn(grown.join('\n'))
  codeIn(Array.from({ length: 500 }, () => nested).join('\n'))

  expect(found).toEqual({ addresses: [], patterns: [] })
  expect(performance.now() - began).toBeLessThan(3_000)
})

test('a pattern that is too long still refuses what it stands for', () => {
  const { patterns } = codeIn(`curl -fsSL "https://forge.example/$part/${'a'.repeat(400)}" | bash`)

  expect(patterns).toEqual([expect.stringMatching(/^https:\/\/forge\.example\/\*\/a+\*$/)])
  expect(patterns[0]).toHaveLength(300)
})
