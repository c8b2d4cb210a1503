/**
 * The rules of a field for links. Every field accepts web pages, that is addresses with `http:` or `https:` and without
 * credentials.
 */
export interface LinkRules {
  /**
   * The accepted notations of a web page. `any`: all that a browser reads as one, such as `HTTPS:host`. `prefix`: a
   * text that begins with `http://` or `https://` in lower case. `plain`: a scheme, `//` and a host, without `@` before
   * the path and without the characters that browsers drop or replace.
   */
  notation: 'any' | 'prefix' | 'plain'
  /** Whether a path of this site is accepted as well. */
  path?: boolean
  /** The query parameters that count as credentials. */
  secrets?: readonly string[]
}

/** Why a field refuses a link. */
export type LinkProblem = 'notation' | 'unreadable' | 'credentials'

/**
 * The rules for links that people follow: a shortcut, the menu entry of a module. The panel, which is built separately,
 * applies the same rules (`panel/nouns/links.ts`); `test/links.ts` has the cases for both.
 */
export const SAFE_LINK: LinkRules = { notation: 'plain', path: true }

/** The description of a safe link, for error messages. */
export const SAFE_LINK_TEXT = 'un chemin (/…) ou une adresse http: ou https: sans identifiants'

/** Browsers ignore tabs and line ends anywhere in an address, and read a backslash as a slash. */
const AMBIGUOUS = /[\p{Cc}\s\\]/u
/** `//host` is another site. */
const PATH = /^\/(?!\/)/

const NOTATIONS: Readonly<Record<LinkRules['notation'], (text: string) => boolean>> = {
  any: () => true,
  prefix: (text) => /^https?:\/\//.test(text),
  plain: (text) => !AMBIGUOUS.test(text) && /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i.test(text),
}

/** Checks a link that somebody typed. Returns everything that is wrong with it, in the order of `LinkProblem`. */
export function linkProblems(text: string, { notation, path = false, secrets = [] }: LinkRules): LinkProblem[] {
  if (path && PATH.test(text) && !AMBIGUOUS.test(text)) return []
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = url === undefined || /^https?:$/.test(url.protocol)
  const problems: LinkProblem[] = []
  if (!isWeb || !NOTATIONS[notation](text)) problems.push('notation')
  if (!url) problems.push('unreadable')
  if (hasCredentials(text, secrets)) problems.push('credentials')
  return problems
}

/** Whether a field with these rules accepts the link. */
export function isLink(text: string, rules: LinkRules): boolean {
  return linkProblems(text, rules).length === 0
}

/** Whether an address of any scheme contains a user name, a password or one of these query parameters. */
export function hasCredentials(address: string, secrets: readonly string[] = []): boolean {
  if (!URL.canParse(address)) return false
  const { username, password, searchParams } = new URL(address)
  return username !== '' || password !== '' || secrets.some((name) => searchParams.has(name))
}
