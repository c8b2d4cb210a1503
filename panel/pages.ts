import {
  Boxes,
  CircleUser,
  FileText,
  House,
  type IconNode,
  Package,
  Puzzle,
  ScrollText,
  Settings,
  Terminal,
} from 'lucide'
import type { ComponentType } from 'preact'
import { AccountPage } from './pages/account.page.tsx'
import { AuditPage } from './pages/audit.page.tsx'
import { ContainersPage } from './pages/containers.page.tsx'
import { DashboardPage } from './pages/dashboard.page.tsx'
import { JobPage } from './pages/job.page.tsx'
import { LogsPage } from './pages/logs.page.tsx'
import { ModulesPage } from './pages/modules.page.tsx'
import { SettingsPage } from './pages/settings.page.tsx'
import { SetupPage } from './pages/setup.page.tsx'
import { SignInPage } from './pages/sign-in.page.tsx'
import { TerminalPage } from './pages/terminal.page.tsx'
import { UpdatesPage } from './pages/updates.page.tsx'
import type { PageName } from './routes.ts'

export interface Page {
  Content: ComponentType
  /** Set for pages of the menu. */
  icon?: IconNode
}

/** The component and icon of each page. */
export const PAGES: Readonly<Record<PageName, Page>> = {
  account: { Content: AccountPage, icon: CircleUser },
  audit: { Content: AuditPage, icon: ScrollText },
  containers: { Content: ContainersPage, icon: Boxes },
  dashboard: { Content: DashboardPage, icon: House },
  job: { Content: JobPage },
  logs: { Content: LogsPage, icon: FileText },
  modules: { Content: ModulesPage, icon: Puzzle },
  settings: { Content: SettingsPage, icon: Settings },
  setup: { Content: SetupPage },
  signIn: { Content: SignInPage },
  terminal: { Content: TerminalPage, icon: Terminal },
  updates: { Content: UpdatesPage, icon: Package },
}
