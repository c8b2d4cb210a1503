/**
 * Checks the address of a shortcut or a module: a web page, or a path of this site, without credentials. Undefined for anything else, such
 * as `javascript:`. The service applies the same rule (`platform/links.ts`); `test/links.ts` has the cases for both.
 */
export function safeLink(href: string | null | undefined): string | undefined {
  // Typed or pasted addresses may have spaces around them.
  const given = (href ?? '').trim()
  // Browsers ignore tabs and line ends anywhere in an address.
  if (/[\p{Cc}\s\\]/u.test(given)) return undefined
  if (/^\/(?!\/)/.test(given)) return given
  return /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i.test(given) && URL.canParse(given) ? given : undefined
}

export interface Shortcut {
  label: string
  href: string
  /** The panel ignores it; another frontend may show it. */
  icon?: string
}

/** Parses the stored JSON list of `{label, href, icon?}` and drops entries with unsafe addresses. */
export function shortcutsIn(text: string): Shortcut[] {
  return parsed(text).flatMap((each) => {
    if (typeof each !== 'object' || each === null || !('href' in each) || typeof each.href !== 'string') return []
    const href = safeLink(each.href)
    const label = 'label' in each && typeof each.label === 'string' ? each.label.trim() : ''
    const icon = 'icon' in each && typeof each.icon === 'string' ? { icon: each.icon } : {}
    return href ? [{ label: label || href, href, ...icon }] : []
  })
}

function parsed(text: string): unknown[] {
  try {
    const found: unknown = JSON.parse(text || '[]')
    return Array.isArray(found) ? found : []
  } catch {
    return []
  }
}
