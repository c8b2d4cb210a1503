import { safeLink } from './links.ts'

export interface Shortcut {
  label: string
  href: string
}

/** The shortcuts in the stored text, a JSON list of `{label, href}`; those that lead nowhere safe are left out. */
export function shortcutsIn(text: string): Shortcut[] {
  return parsed(text).flatMap((each) => {
    if (typeof each !== 'object' || each === null || !('href' in each) || typeof each.href !== 'string') return []
    const href = safeLink(each.href)
    const label = 'label' in each && typeof each.label === 'string' ? each.label.trim() : ''
    return href ? [{ label: label || href, href }] : []
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
