/** Every address of the panel. The service answers each with the page's HTML, and reads this list: plain data alone. */
export const ROUTES = [
  { page: 'account', path: '/account' },
  { page: 'audit', path: '/audit' },
  { page: 'containers', path: '/containers' },
  { page: 'dashboard', path: '/' },
  { page: 'job', path: '/updates/:job' },
  { page: 'logs', path: '/logs' },
  { page: 'modules', path: '/modules' },
  { page: 'settings', path: '/settings' },
  { page: 'setup', path: '/setup' },
  { page: 'signIn', path: '/sign-in' },
  { page: 'terminal', path: '/terminal' },
  { page: 'updates', path: '/updates' },
] as const

export type PageName = (typeof ROUTES)[number]['page']
