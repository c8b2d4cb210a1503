import { safeLink } from './links.ts'

export interface Shortcut {
  label: string
  href: string
  /** Of no use to the panel; another frontend may show it. */
  icon?: string
}

/** The shortcuts in the stored text, a JSON list of `{label, href, icon?}`; those that lead nowhere safe are left out. */
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
