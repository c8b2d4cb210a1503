/** The lines that a manager's functions print, with `|` between their fields, as a check and a plan pass them on. */
export interface Told {
  security?: string
  refresh?: readonly string[]
  verify?: readonly string[]
  planned?: readonly string[]
  left?: readonly string[]
  disk?: readonly string[]
}

export const APP = 'change|upgrade|app|noarch|1.0-1|1:2.0-1|rig|1|4096|-512|app-src'
export const NEW = 'change|install|libnew|x86_64|-|1.1-3|rig|0|1024|2048|libnew'

const REFRESHED = ['repository|rig|http://mirror/rig', 'repository|extra|http://mirror/extra', 'lists|2', 'code|0']
const DISK = ['/ 9000000 4096 9999999 f1', 'archives 9000000 4096 9999999 f1', 'folder /var/cache/dnf', 'cached 0']

function text(manager: string, sections: Record<string, readonly string[]>): string {
  const told = Object.entries(sections).map(
    ([name, lines]) => `${name}\n${lines.map((line) => ` ${line}\n`).join('')}\n`,
  )
  return `os\n ID=fedora\n VERSION_ID=43\n\nmanager ${manager}\n${told.join('')}end\n`
}

/** The output of an inspection of a healthy target, with the given sections instead. */
export function inspected(own: Told = {}, manager = 'dnf'): string {
  const { security = 'told', refresh = REFRESHED, verify = ['code|0'], planned = ['code|0'], left = ['code|0'] } = own
  const sections = { security: [security], refresh, verify, planned, left, disk: own.disk ?? DISK, services: ['whole'] }
  return text(manager, sections)
}

/** The output of a plan. */
export function planned(own: Pick<Told, 'verify' | 'planned' | 'disk'> = {}, manager = 'dnf'): string {
  const { verify = ['code|0'], planned: lines = [APP, 'code|0'], disk = DISK } = own
  return text(manager, { verify, planned: lines, disk })
}
