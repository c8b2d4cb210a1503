/**
 * Whether a link from elsewhere (a shortcut, the menu entry of a module) may be followed: a path of this site, or a web page,
 * without credentials in its address. The panel, which is built apart, asks the same (`panel/nouns/links.ts`), and one table
 * of cases holds for both: `test/links.ts`.
 */
export function isSafeLink(href: string): boolean {
  // Browsers leave tabs and line ends out of an address wherever they stand, and take a backslash for a slash.
  if (/[\p{Cc}\s\\]/u.test(href)) return false
  // `//host` is another site.
  if (/^\/(?!\/)/.test(href)) return true
  return /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i.test(href) && URL.canParse(href)
}

/** What is said where a link is none. */
export const SAFE_LINK = 'un chemin (/…) ou une adresse http: ou https: sans identifiants'
