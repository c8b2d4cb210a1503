import { readFile } from 'node:fs/promises'
import { ConfigError } from '../platform/config.ts'
import { isCode } from '../platform/files.ts'

/** Paths that the Debian package installs; a program at this path belongs to the package. */
export const INSTALLED = {
  program: '/usr/bin/ops-panel',
  environment: '/etc/ops-panel/ops-panel.env',
  data: '/var/lib/ops-panel',
}

/**
 * Returns the environment for a command of the package's program: the one that the systemd unit gives its service.
 * Variables that are already set take precedence. With PANEL_DATA_DIR set, the command means another service, and
 * nothing is read. Throws a ConfigError when the account may not read the file.
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
 * Returns the environment to serve with. Throws a ConfigError for the package's program without PANEL_DATA_DIR: if root
 * typed only its name, the modules in the service account's folder would run with root's rights.
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
/** A comment, an assignment (a quoted value may span lines), or any other line. */
const LINE = new RegExp(
  String.raw`[ \t\r]*(?:[#;].*|([A-Za-z_]\w*)[ \t]*=((?:[ \t]*(?:${QUOTED}))*)(${PLAIN})|.*)(?:\n|$)`,
  'y',
)

/**
 * Returns the variables of a file for systemd's `EnvironmentFile=`, parsed as systemd.exec(5) says. Unlike in a shell
 * or in other `.env` files, a `#` inside a value and a `$` are ordinary characters.
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
      // A backslash escapes only a few characters; before any other it stands for itself.
      return inner.replace(/\\([\s\S])/g, (both, one: string) => (one === '\n' ? '' : /["\\`$]/.test(one) ? one : both))
    })
    .join('')
}

/** Removes white space at both ends, unless it is escaped. */
function unescaped(plain: string): string {
  const kept = /^\s*((?:\\[\s\S]|\S|\s+(?=\S))*)/.exec(plain)?.[1] ?? ''
  return kept.replace(/\\([\s\S])/g, (_, one: string) => (one === '\n' ? '' : one))
}
