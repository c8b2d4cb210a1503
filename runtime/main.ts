import { ConfigError } from './config.ts'
import { startServer } from './server.ts'
import { VERSION } from './version.ts'

const HELP = `ops-panel ${VERSION} — panneau d’administration d’un hôte et de ses conteneurs LXC

Usage : ops-panel [--help | --version]

Sans argument, le service démarre et écoute sur http://127.0.0.1:8080.
Il se configure par l’environnement :

  PANEL_HOST, PANEL_PORT        adresse et port d’écoute (127.0.0.1, 8080)
  PANEL_DATA_DIR                dossier des données (./data)
  PANEL_SSH_HOST                hôte administré : hôte, hôte:port ou [IPv6]:port
  PANEL_SSH_USERNAME            compte de service sur cet hôte
  PANEL_SSH_PASSWORD            son mot de passe (chiffré dans la base)
  PANEL_SSH_HOST_KEY            empreinte attendue, « SHA256:… » (sinon la première est retenue)
  PANEL_ADMIN_GROUPS            groupes d’administrateurs (sudo,wheel,admin)
  PANEL_REFRESH_DAYS            durée d’une session en jours (7)
  PANEL_DATABASE_URL            base libSQL (file:<données>/panel.db)
  PANEL_DATABASE_TOKEN          jeton d’une base distante
  PANEL_SECRET_KEY              clé de chiffrement, 32 octets en base64 (sinon <données>/secret.key)
  PANEL_JWT_KEY                 clé privée RSA des jetons, PEM PKCS #8 (sinon dans la base)
  PANEL_TRUSTED_PROXIES         réseaux dont X-Forwarded-For est cru, séparés par des virgules
  PANEL_ORIGINS                 origines admises en plus de la sienne
  PANEL_ANONYMOUS_OUTPUT        on ou off : suivre une tâche en direct sans être connecté (on)
  PANEL_TLS_CERT, PANEL_TLS_KEY fichiers PEM pour servir en HTTPS (sinon en clair)
  PANEL_LOG_LEVEL               fatal, error, warn, info, debug, trace ou silent (info)
`

void main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<void> {
  const [first] = args
  if (first === '--help' || first === '-h') return print(HELP)
  if (first === '--version' || first === '-v') return print(`${VERSION}\n`)
  if (first !== undefined) return exit(2, `ops-panel : argument inconnu « ${first} ». Voir ops-panel --help.`)
  try {
    // Database and keys are for the account of the service alone.
    process.umask(0o077)
    const { stop } = await startServer(process.env)
    let asked = 0
    const end = () => {
      // npm relays a Ctrl-C that the terminal has sent to us already; a later one means: at once.
      if (asked !== 0 && performance.now() - asked > 500) process.exit(130)
      asked ||= performance.now()
      void stop().then(() => process.exit(0))
    }
    process.on('SIGINT', end)
    process.on('SIGTERM', end)
    process.on('SIGHUP', end)
  } catch (error) {
    exit(1, explain(error))
  }
}

/** What a person at a terminal is told; the stack of an error is of use to nobody there. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return `ops-panel : ${error.message}`
  const { code, message } =
    error instanceof Error
      ? { code: undefined, ...error, message: error.message }
      : { code: undefined, message: String(error) }
  if (code === 'EADDRINUSE') return `ops-panel : le port est déjà pris. Choisissez-en un autre avec PANEL_PORT.`
  if (code === 'EACCES') return `ops-panel : accès refusé (${message}).`
  return `ops-panel : le service n’a pas pu démarrer : ${message}`
}

function print(text: string): void {
  process.stdout.write(text)
}

function exit(code: number, message: string): void {
  process.stderr.write(`${message}\n`)
  process.exitCode = code
}
