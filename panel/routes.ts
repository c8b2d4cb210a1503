/** Every address of the panel. The service serves the HTML at each of them and reads this list, so it contains plain data only. */
export const ROUTES = [
  { page: 'access', path: '/access' },
  { page: 'account', path: '/account' },
  { page: 'audit', path: '/audit' },
  { page: 'containers', path: '/containers' },
  { page: 'dashboard', path: '/' },
  { page: 'enrol', path: '/enrol' },
  { page: 'job', path: '/updates/:job' },
  { page: 'logs', path: '/logs' },
  { page: 'module', path: '/modules/:module' },
  { page: 'modules', path: '/modules' },
  { page: 'notifications', path: '/notifications' },
  { page: 'oidc', path: '/oidc' },
  { page: 'run', path: '/runs/:run' },
  { page: 'schedule', path: '/schedules/:schedule' },
  { page: 'scheduleRun', path: '/schedules/runs/:run' },
  { page: 'schedules', path: '/schedules' },
  { page: 'settings', path: '/settings' },
  { page: 'setup', path: '/setup' },
  { page: 'signIn', path: '/sign-in' },
  { page: 'terminal', path: '/terminal' },
  { page: 'updates', path: '/updates' },
] as const

export type PageName = (typeof ROUTES)[number]['page']
