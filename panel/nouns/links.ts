/**
 * Where a shortcut or a module leads: to a web page, or to a path of this site, without credentials. Undefined for anything
 * else, like `javascript:`. The service accepts and stores the same (`runtime/link.ts`); `test/links.ts` holds for both.
 */
export function safeLink(href: string | null | undefined): string | undefined {
  // What is typed or pasted may have blanks around it.
  const given = (href ?? '').trim()
  // Browsers leave tabs and line ends out of an address, wherever they are.
  if (/[\p{Cc}\s\\]/u.test(given)) return undefined
  if (/^\/(?!\/)/.test(given)) return given
  return /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i.test(given) && URL.canParse(given) ? given : undefined
}
