/** What a refused or failed request can be told: the stable code, its HTTP status, its French sentence. */
const table = {
  malformed_http: [400, 'La requête HTTP est mal formée.'],
  invalid_json: [400, 'Le corps de la requête est illisible.'],
  invalid_request: [400, 'La requête est invalide.'],
  credentials_missing: [400, 'Le nom d’utilisateur et le mot de passe sont obligatoires.'],
  target_missing: [400, 'La cible est obligatoire.'],
  target_invalid: [400, 'Cible invalide : {target}'],
  preference_invalid: [400, 'Préférence invalide : {field}'],
  unauthenticated: [401, 'Vous devez être connecté.'],
  bad_credentials: [401, 'Nom d’utilisateur ou mot de passe incorrect.'],
  ssh_unreachable: [401, 'Connexion impossible : l’hôte SSH ne répond pas.'],
  ssh_throttled: [
    401,
    'Connexion impossible : l’hôte SSH refuse pour l’instant les connexions de ce service, après des mots de passe faux ou trop de connexions à la fois. Réessayez dans une minute.',
  ],
  host_key_changed: [401, 'Connexion refusée : la clé de l’hôte SSH a changé. Prévenez un administrateur.'],
  refresh_missing: [401, 'Aucune session : connectez-vous.'],
  refresh_invalid: [401, 'Votre session est invalide ou a expiré. Reconnectez-vous.'],
  session_ended: [401, 'Votre session est terminée. Reconnectez-vous.'],
  user_missing: [401, 'Ce compte n’existe plus.'],
  forbidden: [403, 'Cette action est réservée aux administrateurs.'],
  proof_required: [403, 'Confirmez ce changement par votre propre mot de passe (current_password).'],
  proof_wrong: [403, 'L’hôte n’a pas accepté votre mot de passe : rien n’a changé.'],
  account_kept_out: [
    403,
    'L’hôte ne laisse pas ce compte travailler (shell sans commandes, mot de passe à changer, compte expiré) : corrigez cela sur l’hôte, puis reconnectez-vous.',
  ],
  setup_token_wrong: [
    403,
    'Ce n’est pas le jeton d’installation. Il est affiché au démarrage et enregistré dans le dossier des données (setup-token).',
  ],
  origin_forbidden: [403, 'Cette origine n’est pas autorisée (voir PANEL_ORIGINS).'],
  not_found: [404, 'Cette adresse n’existe pas.'],
  profile_missing: [404, 'Ce profil n’existe plus.'],
  session_missing: [404, 'Cette session n’existe pas.'],
  container_missing: [404, 'Ce conteneur n’existe pas, ou le compte ou le jeton du panneau ne le voit pas.'],
  job_missing: [404, 'Cette tâche n’existe pas.'],
  check_missing: [404, 'Cette cible n’a jamais été vérifiée.'],
  module_missing: [404, 'Ce module n’existe pas.'],
  deployment_missing: [404, 'Cette installation n’existe pas.'],
  repository_missing: [404, 'Ce dépôt n’existe pas sur la forge, ou n’est pas lisible.'],
  method_not_allowed: [405, 'Cette méthode n’est pas prévue à cette adresse.'],
  request_timeout: [408, 'La requête n’est pas arrivée à temps.'],
  already_installed: [409, 'L’installation est déjà faite. Les réglages se changent dans le panneau.'],
  host_key_required: [
    409,
    'Une autre adresse ou une autre clé d’hôte demande l’empreinte que vous avez comparée (ssh_host_key).',
  ],
  hypervisor_token_required: [
    409,
    'L’adresse de l’hyperviseur change : donnez aussi son jeton (hypervisor_token), qui n’est envoyé à aucune autre machine.',
  ],
  job_ended: [409, 'Cette tâche est déjà terminée.'],
  core_module: [409, 'Ce module fait partie du panneau : il ne peut être ni remplacé, ni désactivé, ni supprimé.'],
  commit_changed: [
    409,
    'Ce module a changé depuis que la liste a été lue : sa branche en est au commit {commit}. Relisez la liste.',
  ],
  module_busy: [409, 'Ce module est déjà en cours de modification.'],
  deployment_busy: [409, 'Une autre installation est en cours : attendez qu’elle se termine.'],
  body_too_large: [413, 'Le corps de la requête dépasse {limit}.'],
  invalid_descriptor: [422, 'Le descripteur du module (module.json) est invalide.'],
  remedy_unknown: [422, 'Cette cible n’a rien que cette action puisse réparer. Vérifiez-la à nouveau.'],
  headers_too_large: [431, 'Les en-têtes de la requête sont trop longs.'],
  rate_limited: [429, 'Trop de requêtes. Réessayez dans {seconds} s.'],
  queue_full: [
    429,
    'Trop de tâches sont en cours ou attendent : au plus {ofTarget} par utilisateur pour une même cible, {ofUser} par utilisateur, {ofAll} en tout. Attendez que l’une d’elles se termine.',
  ],
  login_rate_limited: [429, 'Trop de tentatives de connexion. Réessayez dans {seconds} s.'],
  not_configured: [
    500,
    'Cette installation n’est pas configurée : son journal dit quelle variable d’environnement manque ou est fausse.',
  ],
  answer_too_large: [
    500,
    'La réponse dépasse {limit}, que cet hébergement ne transmet pas : demandez l’historique sans les sorties (output=none), et chaque sortie par /api/updates/jobs/<id>/output.',
  ],
  job_kind_missing: [
    500,
    'Le service ne connaît plus cette sorte de tâche ({kind}) : ce qui l’apportait a été retiré, ou n’a pas pu être chargé.',
  ],
  internal: [500, 'Une erreur interne est survenue.'],
  storage_failed: [500, 'La base de données ne répond pas.'],
  sockets_missing: [
    501,
    'Ici, il n’y a pas de WebSocket : la sortie d’une tâche se lit par /api/updates/jobs/<id>/output, et il n’y a pas de terminal.',
  ],
  host_check_failed: [502, 'L’hôte ne peut pas être utilisé : {message}'],
  ssh_failed: [502, 'Erreur SSH : {message}'],
  host_helper_lacks: [
    502,
    'Le compte de service n’a de droits que par ops-panel-host, qui ne permet pas de faire ceci : {what}.',
  ],
  host_answer_too_long: [502, 'Réponse inutilisable : {message}.'],
  job_not_started: [502, 'Erreur SSH : {message}'],
  host_rebooted: [502, 'Erreur SSH : l’hôte a redémarré avant la fin de la tâche'],
  job_killed: [502, 'Erreur SSH : la tâche a été arrêtée de force sur l’hôte'],
  job_folder_missing: [502, 'Erreur SSH : le dossier de la tâche a disparu de l’hôte'],
  job_code_missing: [502, 'Erreur SSH : le code de sortie de la tâche n’a pas pu être écrit (disque plein ?)'],
  forge_failed: [502, 'La forge ne peut pas être lue : {message}'],
  hypervisor_unreachable: [502, 'L’hyperviseur ne répond pas : {message}'],
  hypervisor_certificate: [
    502,
    'Le certificat de l’hyperviseur {message} : {fingerprint}. Comparez cette empreinte à celle qu’affiche l’hyperviseur, puis enregistrez-la dans les réglages (hypervisor_fingerprint).',
  ],
  hypervisor_in_clear: [
    502,
    'L’adresse de l’hyperviseur est en http:, où aucun certificat ne peut être comparé à celui qui a été accepté : corrigez-la, ou videz hypervisor_fingerprint.',
  ],
  hypervisor_unauthorized: [502, 'L’hyperviseur ne reconnaît pas le jeton : vérifiez-le dans les réglages.'],
  hypervisor_forbidden: [502, 'Le jeton n’a pas les droits qu’il faut sur l’hyperviseur : {message}'],
  hypervisor_node_unknown: [
    502,
    'L’hyperviseur a plusieurs nœuds ({nodes}), et son adresse ne dit pas lequel est cet hôte : donnez dans les réglages celle d’un nœud, par son nom.',
  ],
  hypervisor_refused: [502, 'L’hyperviseur a refusé : {message}'],
  hypervisor_unreadable: [502, 'La réponse de l’hyperviseur est inutilisable : {message}'],
  container_locked: [502, 'Le conteneur est verrouillé ({lock}) : attendez que cette opération se termine.'],
  forge_missing: [503, 'Aucune forge n’est configurée (PANEL_FORGE_URL, PANEL_FORGE_ORG).'],
  modules_folder_unusable: [503, 'Le dossier des modules ne peut pas être utilisé ({message}).'],
  deployer_missing: [503, 'Ce module contient du code, que le service ne charge qu’à son démarrage : {how}'],
  hypervisor_token_unreadable: [
    503,
    'Le jeton de l’hyperviseur enregistré ne peut pas être déchiffré. Saisissez-le à nouveau.',
  ],
  ssh_host_missing: [503, 'L’hôte SSH n’est pas configuré.'],
  ssh_incomplete: [
    503,
    'La configuration SSH est incomplète : l’hôte, l’utilisateur et le mot de passe sont nécessaires (« ops-panel settings set » sur la console du service).',
  ],
  ssh_password_unreadable: [
    503,
    'Le mot de passe SSH enregistré ne peut pas être déchiffré. Saisissez-le à nouveau (« ops-panel settings set ssh_password » sur la console du service).',
  ],
  proof_impossible: [
    503,
    'L’hôte actuel ne peut pas vérifier votre mot de passe ({message}). Sur la console du serveur : ops-panel settings set.',
  ],
  terminals_busy: [503, 'Trop de terminaux sont ouverts ({most} au plus) : fermez-en un.'],
  login_busy: [503, 'Trop de connexions en cours. Réessayez dans {seconds} s.'],
} as const

export type ErrorCode = keyof typeof table

/** One rejected field of a request. */
export interface Detail {
  field: string
  message: string
}

export interface FailureOptions {
  /** What the placeholders of the sentence stand for. */
  values?: Record<string, string | number>
  details?: Detail[]
  /** Logged, never sent. */
  cause?: unknown
  /** Seconds after which the request is worth repeating: the `Retry-After` header. */
  retryAfter?: number
}

/** A named failure: `message` is the French sentence that the caller sees, `cause` stays in the log. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: ErrorCode
  readonly status: number
  readonly details: Detail[] | undefined
  readonly retryAfter: number | undefined

  constructor(code: ErrorCode, options: FailureOptions = {}) {
    const [status, text] = table[code]
    const { values = {}, details, cause, retryAfter } = options
    super(
      text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? '')),
      { cause },
    )
    this.code = code
    this.status = status
    this.details = details
    this.retryAfter = retryAfter
  }
}

/** The body of every error answer. */
export function errorBody({ code, message, details }: Failure): string {
  return JSON.stringify({ error: message, code, ...(details && { details }) })
}

/** Every code with its status and sentence, for documents and tests. */
export const errorTable: Readonly<Record<ErrorCode, readonly [status: number, text: string]>> = table

/** Why a page is refused, as the log says it: an operator should look there when it is the panel's own. */
export class ForeignPage extends Error {
  override readonly name = 'ForeignPage'
  readonly origin: string

  constructor(origin: string) {
    super(
      'refused, the page is of another origin: see PANEL_ORIGINS, or have the proxy set X-Forwarded-Proto and pass Host on',
    )
    // As long as the longest name of a host, and whatever else is in an origin.
    this.origin = origin.slice(0, 300)
  }
}
