/** Where a shortcut or a module leads: to a web page, or to an address of this site. Undefined for anything else, like `javascript:`. */
export function safeLink(href: string | null | undefined): string | undefined {
  // Browsers leave tabs and line ends out of an address, wherever they are.
  const given = (href ?? '').trim()
  if (/[\p{Cc}\s\\]/u.test(given)) return undefined
  if (/^\/(?!\/)/.test(given)) return given
  if (!/^https?:\/\//i.test(given)) return undefined
  return URL.canParse(given) ? given : undefined
}
