/** By code: the problem, then what to do. The sentences of errors that the first pages do not show are in later-errors.ts. */
export const errors = {
  account_kept_out:
    'Votre compte ne peut pas travailler sur l’hôte\u00a0: pas de shell, mot de passe à changer ou compte expiré. Faites-le corriger sur l’hôte, puis reconnectez-vous.',
  already_queued:
    'Une mise à jour de cette cible est déjà en cours ou en attente. Suivez-la, ou faites un plan pour la suivante.',
  answer_too_large: 'La réponse est trop longue pour cet hébergement. Ouvrez les sorties une par une.',
  bad_credentials: 'Nom d’utilisateur ou mot de passe incorrect. Vérifiez les deux et réessayez.',
  body_too_large: 'Le contenu envoyé est trop long. Raccourcissez-le et réessayez.',
  container_locked: 'Le conteneur est verrouillé par une autre opération. Attendez qu’elle se termine et réessayez.',
  container_missing: 'Ce conteneur n’existe plus, ou le panneau ne le voit pas. Actualisez la liste.',
  credentials_missing: 'Saisissez le nom d’utilisateur et le mot de passe.',
  forbidden: 'Cette action est réservée aux administrateurs de l’hôte. Demandez à l’un d’eux.',
  host_check_failed: 'L’hôte ne peut pas être utilisé. Corrigez ce qui est indiqué et réessayez.',
  host_helper_lacks:
    'Sur l’hôte, le compte de service n’a que les droits d’ops-panel-host, qui ne permet pas cette action. Donnez-lui sudo, ou faites-la sur l’hôte.',
  host_helper_old:
    'Le programme ops-panel-host de l’hôte est trop ancien. Remplacez-le par celui de ce service\u00a0: «\u00a0ops-panel host helper\u00a0» dit comment.',
  host_key_changed:
    'La clé de l’hôte SSH a changé. Ne saisissez plus votre mot de passe\u00a0: prévenez un administrateur. Il comparera la nouvelle clé et l’acceptera sur le serveur, avec «\u00a0ops-panel settings set ssh_host_key\u00a0».',
  host_answer_too_long:
    'La liste de l’hôte ou du conteneur est trop longue pour être affichée. Consultez-la sur place.',
  hypervisor_certificate:
    'Le certificat de l’hyperviseur n’est pas reconnu. Comparez son empreinte, puis enregistrez-la dans les réglages.',
  hypervisor_forbidden: 'Le jeton n’a pas les droits nécessaires sur l’hyperviseur. Accordez-les et réessayez.',
  hypervisor_in_clear:
    'L’adresse de l’hyperviseur est en http:, sans certificat à comparer. Corrigez-la dans les réglages, ou videz l’empreinte.',
  hypervisor_node_unknown: 'L’hyperviseur a plusieurs nœuds. Indiquez dans les réglages l’adresse du nœud de cet hôte.',
  hypervisor_refused: 'L’hyperviseur a refusé. Lisez sa raison, corrigez-en la cause et réessayez.',
  hypervisor_token_unreadable:
    'Le jeton de l’hyperviseur ne peut plus être déchiffré. Saisissez-le à nouveau dans les réglages.',
  hypervisor_unauthorized: 'L’hyperviseur ne reconnaît pas le jeton. Vérifiez-le dans les réglages.',
  hypervisor_unreachable: 'L’hyperviseur ne répond pas. Vérifiez son adresse dans les réglages, et qu’il fonctionne.',
  hypervisor_unreadable: 'La réponse de l’hyperviseur est inutilisable. Vérifiez que son adresse mène bien à lui.',
  job_kind_missing:
    'Le service ne connaît plus ce type de tâche\u00a0: le module qui l’apportait a été retiré, ou n’a pas pu être chargé. La tâche déjà commencée continue sur l’hôte.',
  job_not_started: 'L’hôte n’a pas pu commencer la tâche. Voyez ce qu’il dit, puis relancez-la.',
  host_rebooted:
    'L’hôte a redémarré avant la fin. Relancez la mise à jour\u00a0: elle répare d’abord ce qui est resté inachevé.',
  job_killed:
    'La tâche a été arrêtée de force sur l’hôte. Relancez la mise à jour\u00a0: elle répare d’abord ce qui est resté inachevé.',
  job_folder_missing:
    'L’hôte n’a plus aucune trace de cette tâche\u00a0: son dossier, sous /var/tmp, a disparu. Relancez la mise à jour.',
  job_code_missing:
    'La tâche s’est terminée sans pouvoir écrire son code de sortie. Libérez de la place sur l’hôte, puis relancez-la.',
  internal:
    'Une erreur interne est survenue. Réessayez\u202f; le numéro de la requête permet de retrouver la cause dans les journaux.',
  invalid_json: 'La requête est illisible. Rechargez la page et réessayez.',
  invalid_request: 'La requête est invalide. Corrigez les champs indiqués.',
  job_missing: 'Cette mise à jour n’existe pas, ou n’est plus conservée. Revenez à l’historique.',
  login_busy: 'Trop de connexions sont en cours. Patientez quelques secondes et réessayez.',
  login_rate_limited: 'Trop de tentatives de connexion. Patientez, puis réessayez.',
  network_failed: 'Le service ne répond pas. Vérifiez votre connexion\u202f; la page réessaie d’elle-même.',
  not_configured: 'Le service n’est pas configuré. Son journal indique quelle variable manque ou est incorrecte.',
  not_found: 'Cette adresse n’existe pas. Rechargez la page\u00a0: le service a peut-être changé.',
  origin_forbidden: 'Cette adresse du panneau n’est pas autorisée. Ajoutez-la à PANEL_ORIGINS.',
  plan_missing: 'Ce plan n’existe plus. Refaites-le.',
  plan_empty: 'Il n’y a rien à faire avec ce choix. Revérifiez la cible, ou changez de choix.',
  plan_used: 'Ce plan a déjà été exécuté. Refaites-le pour voir ce qu’il reste à faire.',
  plan_not_begun:
    'La mise à jour s’est arrêtée avant de changer quoi que ce soit\u00a0: sa sortie dit pourquoi. Revérifiez, puis faites un nouveau plan.',
  plan_unbound:
    'Des paquets ont changé sans comparaison avec le plan\u00a0: la configuration du gestionnaire de paquets l’empêche. Lisez la sortie.',
  plan_changed:
    'La mise à jour n’aurait plus été celle du plan\u00a0: rien n’a été changé. Comparez, puis faites un nouveau plan.',
  plan_expired: 'Ce plan a plus d’une heure. Refaites-le\u00a0: il montrera ce qui a changé depuis.',
  plan_of_another_user: 'Ce plan est celui de quelqu’un d’autre. Faites le vôtre pour y choisir.',
  plan_of_another_target: 'Ce plan est celui d’une autre cible. Refaites-le.',
  protection_unavailable:
    'La protection demandée n’a pas pu être mise en place\u00a0: rien n’a été mis à jour. Lisez pourquoi, puis réessayez ou changez la protection.',
  probe_unavailable:
    'Le programme ops-panel-host de l’hôte n’exécute pas de sonde «\u00a0commande\u00a0»\u00a0: rien n’a été mis à jour. Retirez cette sonde, ou donnez sudo au compte de service.',
  source_changed: 'Ce n’est plus ce qui a été lu, et rien n’a été exécuté. Relisez, puis acceptez.',
  application_asks:
    'La mise à jour pose une question et a été arrêtée. Lancez «\u00a0update\u00a0» dans un terminal du conteneur.',
  application_refused:
    'La mise à jour a voulu exécuter un code que personne n’a accepté, et a été arrêtée. Lisez sa sortie.',
  application_not_begun: 'La mise à jour n’a pas commencé\u202f; sa sortie dit pourquoi. Réessayez ensuite.',
  application_not_installed:
    'Le script n’a pas trouvé l’application, et n’a rien mis à jour. Vérifiez le conteneur dans un terminal.',
  systemctl_not_allowed:
    'La règle sudo du compte de service ne permet pas systemctl. Ajoutez-y la ligne que la sortie donne, puis réessayez.',
  backup_running: 'Une sauvegarde est en cours. Redémarrez l’hôte quand elle sera finie.',
  jobs_running: 'Une autre tâche est en cours ou attend. Redémarrez l’hôte quand elle sera finie.',
  reboot_late: 'Le redémarrage n’a pas pu commencer à temps\u00a0: rien n’a été fait. Réessayez.',
  reboot_refused: 'L’hôte a refusé de redémarrer. La sortie dit pourquoi.',
  reboot_missing:
    'L’hôte n’a pas redémarré en 15 minutes, et peut encore le faire. Regardez sur sa console ce qui le retient.',
  host_not_back:
    'L’hôte ne répond plus depuis son redémarrage, ou le réseau manque. Regardez sur sa console s’il a démarré.',
  plan_impossible: 'Cette mise à jour n’est pas possible tant que ce qui la bloque n’est pas réglé.',
  plans_busy: 'Trop de plans sont en préparation. Patientez un instant, puis refaites celui-ci.',
  profile_missing: 'Votre compte n’est plus connu du panneau. Reconnectez-vous.',
  queue_full:
    'Trop de mises à jour sont déjà en cours ou en attente. Attendez que l’une d’elles se termine, puis réessayez.',
  rate_limited: 'Trop de requêtes en peu de temps. Patientez une minute et réessayez.',
  refresh_invalid: 'Votre session est invalide ou a expiré. Reconnectez-vous.',
  refresh_missing: 'Aucune session n’est ouverte. Connectez-vous.',
  request_timeout: 'La requête n’est pas arrivée à temps. Vérifiez votre connexion et réessayez.',
  session_ended: 'Votre session est terminée. Reconnectez-vous.',
  setup_token_wrong:
    'Ce n’est pas le jeton d’installation. Il est affiché au démarrage du service et enregistré dans son dossier de données (setup-token).',
  sockets_missing: 'Cet hébergement ne permet pas les WebSockets\u00a0: le terminal n’y est pas disponible.',
  check_missing: 'Cette cible n’a jamais été vérifiée. Vérifiez-la, puis réessayez.',
  remedy_unknown: 'Il n’y a plus rien à réparer ainsi sur cette cible. Vérifiez-la à nouveau.',
  ssh_failed: 'La connexion SSH à l’hôte a échoué. Vérifiez que l’hôte répond, puis réessayez.',
  ssh_host_missing: 'L’hôte SSH n’est pas configuré. Terminez l’installation du panneau.',
  ssh_incomplete:
    'La configuration SSH est incomplète\u00a0: il faut l’hôte, l’utilisateur et le mot de passe. Complétez-la sur le serveur, avec «\u00a0ops-panel settings set\u00a0».',
  ssh_password_unreadable:
    'Le mot de passe SSH ne peut plus être déchiffré. Saisissez-le à nouveau sur le serveur, avec «\u00a0ops-panel settings set ssh_password\u00a0».',
  ssh_throttled:
    'L’hôte refuse pour l’instant les connexions du panneau, après des mots de passe refusés ou trop de connexions à la fois. Patientez une minute et réessayez\u202f; si cela se répète, prévenez un administrateur.',
  ssh_unreachable: 'L’hôte SSH ne répond pas. Vérifiez qu’il est démarré et joignable, puis réessayez.',
  storage_failed:
    'La base de données du panneau ne répond pas. Patientez et réessayez\u202f; sinon, voyez les journaux.',
  target_invalid: 'Cette cible est invalide. Corrigez-la et réessayez.',
  target_missing: 'Choisissez une cible.',
  terminals_busy: 'Trop de terminaux sont ouverts. Fermez-en un et réessayez.',
  unauthenticated: 'Vous n’êtes plus connecté. Reconnectez-vous.',
  unexpected_answer: 'La réponse ne vient pas du service, mais peut-être d’un proxy. Rechargez la page.',
  user_missing: 'Ce compte n’existe plus. Connectez-vous avec un autre.',
}
