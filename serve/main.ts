import { setTimeout as pause } from 'node:timers/promises'
import { complain, describeCommands, explain, helpFor, print, runCommandLine } from '../cli/cli.ts'
import { commands } from '../functions/index.ts'
import { detectDeployer, runSwap } from '../modules/modules.ts'
import { readConfig } from '../platform/config.ts'
import { VERSION } from '../platform/program.ts'
import { DEVELOP, runDevelopment } from './develop-module.ts'
import { createHandoff, isWorker } from './handoff.ts'
import { INSPECT, runInspection } from './inspect-module.ts'
import { installedEnvironment, serviceEnvironment } from './installed.ts'
import { startServer } from './server.ts'
import { serviceManager } from './service-manager.ts'
import { runWorkers } from './workers.ts'

const HELP = `ops-panel ${VERSION} — panneau d’administration d’un hôte et de ses conteneurs LXC

Usage : ops-panel [commande | --help | --version]

Sans commande, le service démarre et écoute sur http://127.0.0.1:8080. Les commandes :

${describeCommands(commands)}

Le service et ses commandes se configurent par l’environnement, et pour le paquet Debian par
/etc/ops-panel/ops-panel.env :

  PANEL_HOST, PANEL_PORT        adresse et port d’écoute (127.0.0.1, 8080)
  PANEL_DATA_DIR                dossier des données (./data ; paquet Debian : /var/lib/ops-panel)
  PANEL_SSH_HOST                hôte administré : hôte, hôte:port ou [IPv6]:port
  PANEL_SSH_USERNAME            compte de service sur cet hôte
  PANEL_SSH_PASSWORD            son mot de passe (chiffré dans la base)
  PANEL_SSH_KEY                 fichier de sa clé privée ed25519, au lieu ou en plus du mot de passe (chiffrée dans la base)
  PANEL_SSH_HOST_KEY            empreinte attendue, « SHA256:… » (sinon la première est retenue)
  PANEL_ADMIN_GROUPS            groupes d’administrateurs (sudo, admin, et wheel là où sudo en rend root les membres)
  PANEL_OPERATOR_GROUPS         groupes qui vérifient et mettent à jour toutes les cibles ou certaines
                                (web:lxc/101,lxc/102;db:host;ops ; sinon tous les comptes de l’hôte)
  PANEL_VIEWER_GROUPS           groupes qui consultent sans rien changer ; avec cette variable ou la précédente, qui
                                n’est dans aucun groupe ne se connecte pas
  PANEL_SIGN_IN_GROUPS          groupes dont les membres, et eux seuls, se connectent (sinon tous les comptes de l’hôte)
  PANEL_REQUIRE_FACTOR          off, admins ou all : qui doit avoir un second facteur (off)
  PANEL_PASSKEY_SIGN_IN         on ou off : se connecter par une clé d’accès seule, sans le PAM de l’hôte (off)
  PANEL_OIDC_ISSUER, PANEL_OIDC_CLIENT_ID, PANEL_OIDC_CLIENT_SECRET
                                fournisseur OpenID Connect par lequel on se connecte ; il faut aussi PANEL_PUBLIC_URL
  PANEL_OIDC_CLAIM              donnée du jeton qui nomme le compte de l’hôte (preferred_username)
  PANEL_OIDC_NAME               nom du fournisseur sur la page de connexion (OpenID Connect)
  PANEL_UNCONFIRMED_ADMINISTRATORS
                                on ou off : sans compte de service, croire qui se dit administrateur (off)
  PANEL_REFRESH_DAYS            durée d’une session en jours (7)
  PANEL_KEEP_JOBS               dernières tâches dont la sortie est gardée (500)
  PANEL_JOB_OUTPUT_MIB          Mio gardés de la sortie d’une tâche, début et fin (64)
  PANEL_TERMINAL_IDLE_MINUTES   minutes après lesquelles un terminal inactif est fermé (30)
  PANEL_DATABASE_URL            base libSQL (file:<données>/panel.db)
  PANEL_DATABASE_TOKEN          jeton d’une base distante
  PANEL_SECRET_KEY              clé de chiffrement, 32 octets en base64 (sinon <données>/secret.key)
  PANEL_JWT_KEY                 clé privée RSA des jetons, PEM PKCS #8 (sinon dans la base)
  PANEL_TRUSTED_PROXIES         réseaux dont X-Forwarded-For est cru, séparés par des virgules
  PANEL_ORIGINS                 origines admises en plus de la sienne
  PANEL_PUBLIC_URL              origine du panneau : liens des notifications, nom des clés d’accès, OpenID Connect
  PANEL_ANONYMOUS_OUTPUT        on ou off : suivre une tâche en direct sans être connecté (on)
  PANEL_FORGE_URL, PANEL_FORGE_ORG, PANEL_FORGE_TOKEN
                                forge (Gitea, Forgejo) des modules : adresse, organisation, jeton
  PANEL_CVE_URL                 adresse sous laquelle chaque version de Debian a sa liste de failles, au format de
                                debsecan (sinon le panneau n’en indique aucune)
  PANEL_ALPINE_SECDB_URL        adresse sous laquelle chaque branche d’Alpine a ses listes de failles, au format de
                                secdb (sinon le panneau n’en indique aucune)
  PANEL_ARCH_SECURITY_URL       adresse sous laquelle Arch a la liste de failles all.json de son suivi de sécurité
                                (sinon le panneau n’en indique aucune)
  PANEL_KEV_URL                 adresse de la liste des failles dont l’exploitation est connue, au format de la CISA
  PANEL_MODULES_DIR             dossier du code des modules (<données>/modules)
  PANEL_DEPLOYER                process : redémarrer sans coupure avec un module installé ; docker : remplacer le
                                conteneur où le service s’exécute ; none : ne pas le faire (docker dans un
                                conteneur qui voit le moteur, process sous systemd, sinon none)
  PANEL_DOCKER_SOCKET           socket du moteur Docker (/var/run/docker.sock)
  PANEL_UI                      on ou off : servir le panneau, ou l’API seule (on)
  PANEL_METRICS                 on ou off : métriques pour Prometheus à /metrics (off)
  PANEL_TLS_CERT, PANEL_TLS_KEY fichiers PEM pour servir en HTTPS (sinon en clair)
  PANEL_LOG_LEVEL               fatal, error, warn, info, debug, trace ou silent (info)
`

/** Under another program that runs this one in a worker (pm2): time for a message and its answer on a busy machine. */
const HAND_BACK_MS = 500

/** Internal: the argument of the helper that replaces the container. */
const REPLACE = 'replace-container'

// The reader of the output may close it early (`| head`).
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
void main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<void> {
  const [first] = args
  const words = args.filter((word) => !word.startsWith('-'))
  const help = words.length === 0 ? HELP : helpFor(commands, words)
  // For an unknown command, `typed` reports the error.
  if (args.includes('--help') || args.includes('-h')) return help === undefined ? typed(words) : print(help)
  if (first === '--version' || first === '-v') return print(`${VERSION}\n`)
  // Only the service's account may read the database and the keys.
  process.umask(0o077)
  if (first === REPLACE) return replace(args[1] ?? '')
  if (first === DEVELOP) return develop(args.slice(1))
  if (first === INSPECT) return runInspection(args.slice(1))
  // The arguments of a worker were not typed by anybody.
  if (first !== undefined && !isWorker) return typed(args)
  try {
    const own = serviceEnvironment(process.env, process.execPath)
    const deployer = await detectDeployer(readConfig(own), own, process.pid)
    const manager = serviceManager(isWorker ? {} : process.env, (text) => complain(0, text))
    if (deployer === 'process' && !isWorker) process.exit(await runWorkers((text) => complain(0, text), manager))
    const environment = { ...own, PANEL_DEPLOYER: deployer }
    const handoff = deployer === 'process' ? createHandoff(process.env) : undefined
    const starting = startServer(environment, undefined, handoff)
    let asked = 0
    const end = () => {
      // npm relays a Ctrl-C that the terminal has also sent here. Only a later one asks to stop at once.
      if (asked !== 0 && performance.now() - asked > 500) process.exit(130)
      asked ||= performance.now()
      void manager.stopping()
      starting.then(
        async ({ stop }) => {
          await stop().catch((error: unknown) =>
            complain(1, explain(error, 'le service ne s’est pas arrêté proprement')),
          )
          // Connections that the owner of the port handed over meanwhile return to it, for another worker.
          if (handoff) await handoff.leave()
          else if (isWorker) await pause(HAND_BACK_MS)
          process.exit()
        },
        // The catch below reports why it did not start.
        () => process.exit(1),
      )
    }
    // Registered before the start is over, so that a signal during the start counts too.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end)
    void handoff?.followed.then(end)
    await starting
    await manager.ready()
  } catch (error) {
    const reason = explain(error, 'le service n’a pas pu démarrer')
    complain(1, reason)
    const handoff = createHandoff(process.env)
    if (!handoff) return
    await handoff.fail(reason)
    process.exit(1)
  }
}

async function typed(args: readonly string[]): Promise<void> {
  try {
    const environment = await installedEnvironment(process.env, process.execPath)
    await runCommandLine(commands, args, { environment, clock: () => new Date() })
  } catch (error) {
    complain(1, explain(error, 'la commande a échoué'))
  }
}

async function replace(argument: string): Promise<void> {
  try {
    await runSwap(argument)
  } catch (error) {
    complain(1, explain(error, REPLACE))
  }
}

async function develop(args: readonly string[]): Promise<void> {
  try {
    await runDevelopment(args, process.env)
  } catch (error) {
    complain(1, explain(error, DEVELOP))
    process.exit(1)
  }
}
