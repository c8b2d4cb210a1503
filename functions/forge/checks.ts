import * as z from 'zod'
import { parseJson } from '../../platform/untrusted.ts'
import { checked } from '../../runtime/input.ts'
import { asking, type Ask, type ForgeAnswer, rightPath, versionOf } from './asking.ts'
import { ForgeCertificateError, ForgeError, scopesNamed } from './error.ts'
import type { ForgeAddress } from './settings.ts'

/** The questions of the test, in their order. */
export const FORGE_CHECKS = [
  'reachable',
  'certificate',
  'forge',
  'token',
  'organization',
  'repositories',
  'files',
] as const

export interface ForgeCheck {
  id: (typeof FORGE_CHECKS)[number]
  ok: boolean
  message: string
}

export interface ForgeReport {
  /** Ends at the first answer without which the next question makes no sense. */
  checks: ForgeCheck[]
  /** SHA-256 of a certificate that nobody vouches for, to be agreed to; null when there is none. */
  fingerprint: string | null
}

/** The whole test: a person waits. */
const TIMEOUT_MS = 15_000
/** Repositories whose descriptor is asked for. */
const TRIED = 5

const Named = z.object({ login: z.string().max(100).optional(), name: z.string().max(100).optional() })
const Repositories = z.array(
  z.object({
    name: z.string().max(100),
    default_branch: z.string().max(300).default(''),
    empty: z.boolean().default(false),
    archived: z.boolean().default(false),
    has_code: z.boolean().default(true),
  }),
)

/** Asks a forge everything that installing modules needs, and says what to change where it lacks something. */
export async function testForge(
  { isTokenHeld, ...address }: ForgeAddress & { isTokenHeld: boolean },
  { withinMs = TIMEOUT_MS } = {},
): Promise<ForgeReport> {
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(), withinMs)
  const checks: ForgeCheck[] = []
  const say = (id: ForgeCheck['id'], ok: boolean, message: string) => {
    checks.push({ id, ok, message })
    return ok
  }
  let at: ForgeCheck['id'] = 'reachable'
  try {
    const nameless = asking({ ...address, token: undefined }, ending.signal)
    const ask = asking(address, ending.signal)
    // The version is public nearly everywhere: a wrong token would hide whether this is a forge.
    const version = await nameless('/v1/version', 'sa version')
    const { origin, protocol } = new URL(address.url)
    say('reachable', true, `${origin} répond.`)
    if (protocol === 'https:') {
      const accepted = 'Le certificat de la forge est celui qui a été accepté.'
      const known = 'Le certificat de la forge est garanti par une autorité reconnue.'
      say('certificate', true, address.fingerprint ? accepted : known)
    }
    at = 'forge'
    if (!say(...(await isForge(version, { address, nameless, ask, signal: ending.signal })))) return report(checks)
    at = 'token'
    if (!say(...(await isKnown(ask, { token: address.token, isTokenHeld })))) return report(checks)
    at = 'organization'
    const isThere = await isOrganization({ ask, nameless }, address)
    say(...isThere.said)
    if (!isThere.said[1]) {
      at = 'files'
      // A person who makes a new token wants to know all that this one lacks.
      if (isThere.lacksScope) for (const check of await mayReadAny(ask)) say(...check)
      return report(checks)
    }
    at = 'repositories'
    const { said, found } = await countOf(ask, address.org)
    if (!say(...said)) return report(checks)
    at = 'files'
    say(...(await mayRead(ask, address.org, found)))
    return report(checks)
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    if (error instanceof ForgeCertificateError && at === 'reachable') {
      say('reachable', true, `${new URL(address.url).origin} répond.`)
      say('certificate', false, `Le certificat de la forge ${error.problem}.`)
      return { checks, fingerprint: error.fingerprint ?? null }
    }
    say(at, false, `La forge ne peut pas être lue : ${error.message}`)
    return report(checks)
  } finally {
    clearTimeout(timer)
    ending.abort()
  }
}

const report = (checks: ForgeCheck[]): ForgeReport => ({ checks, fingerprint: null })

type Said = [id: ForgeCheck['id'], ok: boolean, message: string]

async function isForge(
  answer: ForgeAnswer,
  { address, nameless, ask, signal }: { address: ForgeAddress; nameless: Ask; ask: Ask; signal: AbortSignal },
): Promise<Said> {
  const isShut = answer.status === 401 || answer.status === 403
  const version = versionOf(isShut && address.token ? await ask('/v1/version', 'sa version') : answer)
  if (version !== undefined) {
    const forgejo = versionOf(await nameless('/forgejo/v1/version', 'sa version de Forgejo'))
    return ['forge', true, forgejo === undefined ? `C’est Gitea ${version}.` : `C’est Forgejo ${forgejo}.`]
  }
  // The next question is the one about the token, which is what such a forge asks for.
  if (isShut && !answer.isPage) return ['forge', true, 'La forge ne répond qu’aux personnes connectées.']
  const path = await rightPath(address, signal)
  if (path !== undefined)
    return ['forge', false, `Aucune forge à cette adresse, mais une à ${path} : corrigez l’adresse (forge_url).`]
  const came = answer.isPage ? 'une page HTML' : `HTTP ${answer.status}`
  return [
    'forge',
    false,
    `Aucun Gitea ni Forgejo ne répond à cette adresse (${came}) : vérifiez son chemin (forge_url).`,
  ]
}

async function isKnown(
  ask: Ask,
  { token, isTokenHeld }: { token: string | undefined; isTokenHeld: boolean },
): Promise<Said> {
  if (isTokenHeld)
    return [
      'token',
      false,
      'Le jeton enregistré n’est envoyé qu’avec l’empreinte enregistrée : enregistrez la nouvelle, ou saisissez le jeton.',
    ]
  if (token === undefined) return ['token', true, 'Sans jeton, seuls les dépôts publics se lisent.']
  const { status, text } = await ask('/v1/user', 'le compte du jeton')
  const login = status === 200 ? namesOf(text)[0] : undefined
  if (login !== undefined) return ['token', true, `La forge reconnaît le jeton de ${login}.`]
  if (status === 401) return ['token', false, 'La forge ne reconnaît pas ce jeton : créez-en un autre (forge_token).']
  // A token without read:user is one that the forge knows.
  if (status === 200 || (status === 403 && scopesNamed(text).length > 0))
    return ['token', true, 'La forge reconnaît le jeton.']
  return ['token', false, `La forge refuse ce jeton (HTTP ${status}).`]
}

async function isOrganization(
  { ask, nameless }: { ask: Ask; nameless: Ask },
  { org, token }: ForgeAddress,
): Promise<{ said: Said; lacksScope?: true }> {
  const no = (message: string): { said: Said } => ({ said: ['organization', false, message] })
  const path = encodeURIComponent(org)
  const { status, text } = await ask(`/v1/orgs/${path}`, `l’organisation « ${org} »`)
  if (status === 200) {
    const names = namesOf(text)
    if (names.some((name) => name.toLowerCase() === org.toLowerCase()))
      return { said: ['organization', true, `L’organisation « ${org} » existe.`] }
    return no(`L’organisation « ${org} » a un autre nom aujourd’hui : ${names[0] ?? '?'} (forge_org).`)
  }
  const scopes = scopesNamed(text)
  if (status === 403 && scopes.length > 0) return { ...no(lacking(scopes)), lacksScope: true }
  if (status === 401 || status === 403)
    return no(
      token === undefined
        ? 'La forge ne montre cette organisation qu’avec un jeton (forge_token).'
        : `La forge refuse de montrer cette organisation (HTTP ${status}).`,
    )
  if (status !== 404) return no(`La forge répond HTTP ${status} pour cette organisation.`)
  // A token needs another permission for accounts, most of which everybody may see.
  const accounts = [nameless, ask].map((asks) => asks(`/v1/users/${path}`, `le compte « ${org} »`))
  if ((await Promise.all(accounts)).some((account) => account.status === 200))
    return no(`« ${org} » est un compte, pas une organisation : les modules viennent d’une organisation (forge_org).`)
  return no(`L’organisation « ${org} » n’existe pas, ou n’est pas visible avec ce jeton (forge_org).`)
}

async function countOf(ask: Ask, org: string) {
  const path = `/v1/orgs/${encodeURIComponent(org)}/repos?page=1&limit=10`
  const { status, headers, text } = await ask(path, 'la liste des dépôts')
  const parsed = status === 200 ? checked(Repositories, parseJson(text)) : undefined
  const no = (message: string) => ({ said: ['repositories', false, message] satisfies Said as Said, found: [] })
  if (!parsed?.success) return no(status === 200 ? 'La liste des dépôts est illisible.' : refused(status, text))
  const total = headers.get('x-total-count') ?? ''
  const count = /^\d{1,9}$/.test(total) ? Number(total) : parsed.data.length
  if (count === 0) return no(`L’organisation « ${org} » n’a aucun dépôt, ou aucun qui soit visible avec ce jeton.`)
  const said: Said = ['repositories', true, count === 1 ? 'Elle a un dépôt.' : `Elle a ${count} dépôts.`]
  return { said, found: parsed.data.filter(({ empty, archived, has_code }) => has_code && !empty && !archived) }
}

async function mayRead(ask: Ask, org: string, found: z.infer<typeof Repositories>): Promise<Said> {
  const tried = found.slice(0, TRIED)
  for (const { name, default_branch } of tried) {
    const home = `/v1/repos/${encodeURIComponent(org)}/${encodeURIComponent(name)}`
    const file = `${home}/raw/module.json?ref=${encodeURIComponent(default_branch)}`
    const { status, text } = await ask(file, `module.json de « ${name} »`)
    if (status === 200) return ['files', true, `module.json de « ${name} » se lit.`]
    if (status !== 404) return ['files', false, refused(status, text)]
  }
  if (tried.length === 0) return ['files', true, 'Aucun des dépôts examinés n’a de fichier à lire.']
  return ['files', true, `Les fichiers se lisent, mais aucun des ${tried.length} dépôts examinés n’a de module.json.`]
}

/** Says whether files may be read where the organisation itself may not; says nothing if so. */
async function mayReadAny(ask: Ask): Promise<Said[]> {
  const { status, text } = await ask('/v1/repos/search?limit=1', 'les dépôts')
  return status === 403 && scopesNamed(text).length > 0 ? [['files', false, refused(status, text)]] : []
}

function refused(status: number, text: string): string {
  const scopes = status === 403 ? scopesNamed(text) : []
  if (scopes.length > 0) return lacking(scopes)
  // The scope `public-only` of Gitea.
  if (status === 403 && /limited to public/.test(text)) return 'Le jeton ne lit que ce qui est public.'
  return `La forge refuse (HTTP ${status}).`
}

function lacking(scopes: readonly string[]): string {
  return `Il manque au jeton la permission ${scopes.join(', ')}.`
}

/** The login and the name in an answer about an account; organisations have a name alone. */
function namesOf(text: string): string[] {
  const parsed = checked(Named, parseJson(text))
  return parsed.success ? [parsed.data.login, parsed.data.name].filter((name) => name !== undefined) : []
}
