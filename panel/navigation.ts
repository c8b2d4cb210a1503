import type { PageName } from './routes.ts'
import type { Words } from './words/fr.ts'

/** The pages of the menu in order, with their addresses. The account page is separate, at the bottom. */
export const MENU = [
  { page: 'dashboard', path: '/' },
  { page: 'updates', path: '/updates' },
  { page: 'containers', path: '/containers' },
  { page: 'schedules', path: '/schedules' },
  { page: 'terminal', path: '/terminal' },
  { page: 'modules', path: '/modules' },
  { page: 'notifications', path: '/notifications' },
  { page: 'settings', path: '/settings' },
  { page: 'access', path: '/access' },
  { page: 'logs', path: '/logs' },
  { page: 'audit', path: '/audit' },
] as const satisfies readonly { page: PageName; path: string }[]

/** The pages that only administrators may see. */
export const FOR_ADMINS: ReadonlySet<PageName> = new Set([
  'access',
  'audit',
  'logs',
  'notifications',
  'settings',
  'terminal',
])

export function titleOf(page: PageName, words: Words): string {
  return words[page].title
}
