import {
  Bell,
  Boxes,
  CalendarClock,
  CircleUser,
  FileText,
  House,
  type IconNode,
  Package,
  Puzzle,
  ScrollText,
  Settings,
  Terminal,
  Users,
} from 'lucide'
import type { ComponentType } from 'preact'
import { DashboardPage } from './pages/dashboard.page.tsx'
import { SignInPage } from './pages/sign-in.page.tsx'
import { lazy } from './parts/lazy.tsx'
import type { PageName } from './routes.ts'

export interface Page {
  Content: ComponentType
  /** Set for pages of the menu. */
  icon?: IconNode
}

/** The component and icon of each page. All but the first ones are loaded when they are opened. */
export const PAGES: Readonly<Record<PageName, Page>> = {
  access: { Content: lazy(async () => (await import('./pages/access.page.tsx')).AccessPage), icon: Users },
  account: { Content: lazy(async () => (await import('./pages/account.page.tsx')).AccountPage), icon: CircleUser },
  audit: { Content: lazy(async () => (await import('./pages/audit.page.tsx')).AuditPage), icon: ScrollText },
  containers: { Content: lazy(async () => (await import('./pages/containers.page.tsx')).ContainersPage), icon: Boxes },
  dashboard: { Content: DashboardPage, icon: House },
  enrol: { Content: lazy(async () => (await import('./pages/enrol.page.tsx')).EnrolPage) },
  job: { Content: lazy(async () => (await import('./pages/job.page.tsx')).JobPage) },
  logs: { Content: lazy(async () => (await import('./pages/logs.page.tsx')).LogsPage), icon: FileText },
  module: { Content: lazy(async () => (await import('./pages/module.page.tsx')).ModulePage) },
  modules: { Content: lazy(async () => (await import('./pages/modules.page.tsx')).ModulesPage), icon: Puzzle },
  notifications: {
    Content: lazy(async () => (await import('./pages/notifications.page.tsx')).NotificationsPage),
    icon: Bell,
  },
  oidc: { Content: lazy(async () => (await import('./pages/oidc.page.tsx')).OidcPage) },
  run: { Content: lazy(async () => (await import('./pages/run.page.tsx')).RunPage) },
  schedule: { Content: lazy(async () => (await import('./pages/schedule.page.tsx')).SchedulePage) },
  scheduleRun: { Content: lazy(async () => (await import('./pages/schedule-run.page.tsx')).ScheduleRunPage) },
  schedules: {
    Content: lazy(async () => (await import('./pages/schedules.page.tsx')).SchedulesPage),
    icon: CalendarClock,
  },
  settings: { Content: lazy(async () => (await import('./pages/settings.page.tsx')).SettingsPage), icon: Settings },
  setup: { Content: lazy(async () => (await import('./pages/setup.page.tsx')).SetupPage) },
  signIn: { Content: SignInPage },
  terminal: { Content: lazy(async () => (await import('./pages/terminal.page.tsx')).TerminalPage), icon: Terminal },
  updates: { Content: lazy(async () => (await import('./pages/updates.page.tsx')).UpdatesPage), icon: Package },
}
