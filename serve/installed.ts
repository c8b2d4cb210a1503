import { readFile } from 'node:fs/promises'
import { ConfigError } from '../platform/config.ts'
import { isCode } from '../platform/files.ts'

/** What the Debian package installs: a program at this place is the package's. */
export const INSTALLED = {
  program: '/usr/bin/ops-panel',
  environment: '/etc/ops-panel/ops-panel.env',
  data: '/var/lib/ops-panel',
}

/**
 * The environment of the package's service, for who types a command of the package's program: what its unit would give. What
 * is set already wins, and who names a data folder means another service: nothing is read then. Throws a ConfigError when
 * the file may not be read.
 */
export async function installedEnvironment(
  environment: Record<string, string | undefined>,
  program: string,
  installed = INSTALLED,
): Promise<Record<string, string | undefined>> {
  if (program !== installed.program || environment.PANEL_DATA_DIR) return environment
  const variables = parseEnvironmentFile(await readIfAllowed(installed.environment))
  // An empty one counts as absent.
  return { ...variables, ...environment, PANEL_DATA_DIR: variables.PANEL_DATA_DIR || installed.data }
}

/**
 * The environment to serve with. Throws a ConfigError where only a command may take the package's: root, who types no more
 * than the program's name, would run what the service's account has in its folder of modules, and with root's rights.
 */
export function serviceEnvironment(
  environment: Record<string, string | undefined>,
  program: string,
): Record<string, string | undefined> {
  if (program !== INSTALLED.program || environment.PANEL_DATA_DIR) return environment
  throw new ConfigError(
    'le service installé est démarré par systemd : « systemctl start ops-panel ». Pour en démarrer un autre, indiquez PANEL_DATA_DIR. Les commandes : ops-panel --help.',
  )
}

async function readIfAllowed(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return ''
    throw new ConfigError(`${file} ne peut pas être lu par ce compte. Tapez la commande en root (sudo ops-panel …).`, {
      cause: error,
    })
  }
}

const QUOTED = String.raw`'[^']*'|"(?:\\[\s\S]|[^"\\])*"`
const PLAIN = String.raw`(?:\\[\s\S]|[^\\\n])*`
/** A comment, an assignment (what is quoted may go over lines), or a line that is neither. */
const LINE = new RegExp(
  String.raw`[ \t\r]*(?:[#;].*|([A-Za-z_]\w*)[ \t]*=((?:[ \t]*(?:${QUOTED}))*)(${PLAIN})|.*)(?:\n|$)`,
  'y',
)

/**
 * The variables that a file for systemd's `EnvironmentFile=` sets, read as systemd.exec(5) reads it, which is neither a shell
 * nor the `.env` of others: a `#` inside a value and what follows a `$` are part of it.
 */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const variables: Record<string, string> = {}
  LINE.lastIndex = 0
  while (LINE.lastIndex < text.length) {
    const [, name, quoted = '', plain = ''] = LINE.exec(text) ?? []
    if (name !== undefined) variables[name] = unquote(quoted) + unescaped(plain)
  }
  return variables
}

function unquote(quoted: string): string {
  return [...quoted.matchAll(new RegExp(QUOTED, 'g'))]
    .map(([part]) => {
      const inner = part.slice(1, -1)
      if (part.startsWith("'")) return inner
      // A backslash means something before few characters, and stands for itself before the others.
      return inner.replace(/\\([\s\S])/g, (both, one: string) => (one === '\n' ? '' : /["\\`$]/.test(one) ? one : both))
    })
    .join('')
}

/** White space at the ends counts only where it is escaped. */
function unescaped(plain: string): string {
  const kept = /^\s*((?:\\[\s\S]|\S|\s+(?=\S))*)/.exec(plain)?.[1] ?? ''
  return kept.replace(/\\([\s\S])/g, (_, one: string) => (one === '\n' ? '' : one))
}
