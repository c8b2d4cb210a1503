/** By code: the problem, then what to do. They load with the first error that needs one. */
export const laterErrors = {
  already_installed: 'L’installation est déjà faite. Connectez-vous\u202f; les réglages se changent dans le panneau.',
  answers_miscounted: 'Répondez à chacune des questions de l’hôte.',
  answers_refused: 'L’hôte n’a pas accepté ces réponses. Recommencez la connexion.',
  application_queued: 'Cette application est déjà en cours de mise à jour, ou en attente. Suivez celle-là.',
  conffile_unknown:
    'La nouvelle version de ce fichier n’est pas connue, ou le plan n’a pas ce fichier. Refaites la comparaison.',
  conffiles_changed: 'Quelqu’un vient de changer ce plan. Rouvrez-le, puis choisissez.',
  conffiles_unavailable: 'Les fichiers n’ont pas pu être comparés. Réessayez\u202f; vos versions sont gardées sinon.',
  commit_changed:
    'Ce module a changé depuis la lecture de la liste. Vérifiez ce qu’elle affiche maintenant, puis réessayez.',
  channel_missing: 'Ce canal n’existe plus. Actualisez la page.',
  channels_full: 'Il y a déjà autant de canaux que possible. Supprimez-en un, puis réessayez.',
  channel_name_taken: 'Un autre canal porte déjà ce nom. Choisissez-en un autre.',
  channel_changed: 'Quelqu’un vient de modifier ce canal. Rouvrez-le, puis réessayez.',
  channel_settings_invalid: 'Les réglages de ce canal ne vont pas. Corrigez les champs indiqués.',
  channel_secret_required: 'L’adresse change, ou la connexion devient moins sûre. Saisissez de nouveau le secret.',
  channel_refused: 'Le message n’a pas été pris. Lisez la raison, corrigez-en la cause et réessayez.',
  commit_missing: 'La forge n’a plus ce commit. Choisissez une autre version du module.',
  tag_missing: 'La forge n’a plus cette étiquette (tag). Vérifiez ce que la liste montre maintenant, puis réessayez.',
  other_repository:
    'Ce module vient d’un autre dépôt que celui de la forge des réglages. Installez-le depuis la liste, ou corrigez la forge.',
  release_unknown: 'Le panneau ne connaît pas cette version du module. Actualisez la liste.',
  invalid_files: 'Des fichiers du module manquent ou ne peuvent pas être utilisés. Prévenez son auteur.',
  core_module: 'Ce module fait partie du panneau\u00a0: il ne se remplace, ne se désactive et ne se supprime pas.',
  deployer_missing:
    'Ce module contient du code, que le service ne charge qu’à son démarrage. Suivez ce qui est indiqué\u00a0:',
  deployment_busy: 'Une autre installation est en cours. Attendez qu’elle se termine et réessayez.',
  deployment_missing: 'Cette installation n’est plus connue. Actualisez la liste des modules.',
  forge_failed: 'La forge ne peut pas être lue. Vérifiez qu’elle répond et réessayez.',
  forge_certificate:
    'Le certificat de la forge n’est pas reconnu. Testez la forge dans les réglages, comparez l’empreinte et acceptez-la là.',
  forge_missing: 'Aucune forge n’est configurée. Donnez son adresse et son organisation dans les réglages.',
  forge_token_unreadable: 'Le jeton de la forge ne peut plus être déchiffré. Saisissez-le à nouveau dans les réglages.',
  forge_url_required:
    'Donnez l’adresse de la forge avec son jeton\u00a0: le panneau ne l’envoie à aucune autre adresse.',
  headers_too_large: 'La requête est trop longue. Effacez les cookies de ce site et réessayez.',
  host_key_required: 'Pour changer d’hôte, il faut accepter sa clé. Lisez-la et comparez-la, puis réessayez.',
  hypervisor_token_required:
    'L’adresse de l’hyperviseur change\u00a0: saisissez aussi son jeton, que le panneau n’envoie à aucune autre machine.',
  invalid_descriptor: 'Le descripteur du module (module.json) est invalide. Signalez-le à son auteur.',
  job_ended: 'Cette mise à jour est déjà terminée. Lisez son résultat.',
  module_store_full: 'Ce module a atteint la limite de ce qu’il peut enregistrer.',
  module_refused: 'Le module a refusé la demande.',
  module_entry_missing: 'Cet élément n’existe pas, ou n’existe plus. Actualisez la page.',
  module_busy: 'Ce module est déjà en cours de modification. Attendez la fin et réessayez.',
  module_missing: 'Ce module n’existe plus. Actualisez la liste.',
  module_page_missing: 'Ce module n’a pas de page, est désactivé ou n’est pas chargé. Revenez à la liste des modules.',
  modules_folder_unusable:
    'Le dossier des modules ne peut pas être utilisé. Corrigez ses droits sur le serveur et réessayez.',
  password_expired: 'Votre mot de passe a expiré. Changez-le sur l’hôte, par ssh ou à sa console, puis connectez-vous.',
  passwords_not_taken: 'L’hôte n’accepte aucun mot de passe, seulement des clés SSH.',
  proof_more_asked: 'L’hôte demande plus que le mot de passe. Répondez à ses questions.',
  run_missing: 'Cette exécution n’existe pas, ou n’est plus conservée. Revenez à l’historique.',
  schedule_changed: 'Quelqu’un vient de modifier cette planification. Rouvrez-la, puis recommencez.',
  schedule_invalid: 'Cette planification ne va pas. Corrigez les champs indiqués.',
  schedule_missing: 'Cette planification n’existe plus. Revenez à la liste.',
  schedule_run_ended: 'Cette exécution est déjà terminée.',
  schedule_run_missing: 'Cette exécution n’existe pas, ou n’est plus conservée. Revenez aux planifications.',
  schedule_running: 'Une exécution de cette planification est en cours. Attendez sa fin, ou annulez-la.',
  schedules_full: 'Il y a trop de planifications. Supprimez-en une d’abord.',
  schedules_paused: 'Toutes les planifications sont suspendues. Reprenez-les d’abord.',
  target_repeated: 'Plusieurs de ces plans sont pour la même cible. Retirez-en un, puis réessayez.',
  protection_invalid: 'Cette protection n’est pas valable. Corrigez les champs indiqués.',
  rollback_impossible: 'Ce retour en arrière n’est pas possible. Lisez pourquoi.',
  application_missing: 'La dernière vérification n’a pas trouvé cette application. Revérifiez la cible.',
  application_unsupported: 'Le panneau ne met pas à jour cette application. Ouvrez un terminal du conteneur.',
  not_agreed: 'Personne n’a accepté ce qui serait exécuté. Lisez-le, puis acceptez-le.',
  source_unavailable: 'Le conteneur n’a pas pu obtenir ce qui serait exécuté. Lisez pourquoi, puis réessayez.',
  service_unknown:
    'La dernière vérification de cette cible n’a pas ce service à redémarrer. Vérifiez-la à nouveau, puis réessayez.',
  service_protected:
    'Ce service n’est jamais redémarré seul, car d’autres dépendent de lui. Redémarrez toute la cible quand elle peut s’arrêter.',
  confirm_invalid: 'Ce n’est pas le nom de l’hôte. Saisissez-le tel qu’il est affiché.',
  snapshot_missing: 'Cette mise à jour n’a pas d’instantané, ou il n’existe plus. Actualisez la page.',
  decision_impossible: 'Il n’y a plus rien à décider pour cette mise à jour. Actualisez la page.',
  preference_invalid: 'Cette préférence n’est pas prévue. Rechargez la page et réessayez.',
  proof_impossible:
    'L’hôte actuel ne peut pas vérifier votre mot de passe. Sur le serveur, «\u00a0ops-panel settings set\u00a0» permet de changer les réglages sans ce mot de passe.',
  proof_needs_factor:
    'Cet hôte ne se contente pas de votre mot de passe. Ajoutez un second facteur à votre compte, ou attendez que le dernier ait 24\u00a0h, puis réessayez. Sur le serveur, «\u00a0ops-panel settings set\u00a0» permet de changer les réglages sans cela.',
  proof_required: 'Ce changement demande votre mot de passe. Réessayez et saisissez-le.',
  proof_wrong: 'L’hôte n’a pas accepté votre mot de passe. Rien n’a changé\u00a0: vérifiez-le et réessayez.',
  repository_missing:
    'Ce dépôt n’existe pas sur la forge, ou n’est pas lisible. Vérifiez les droits du jeton de la forge.',
  session_missing: 'Cette session est déjà terminée. Actualisez la liste.',
  changelog_missing: 'Cette version du paquet n’a pas de journal des modifications.',
  changelog_unavailable:
    'Le journal des modifications n’a pas pu être lu. Vérifiez les dépôts de la cible, puis réessayez.',
  account_barred: 'Un administrateur a exclu votre compte de ce panneau. Adressez-vous à lui.',
  account_unknown: 'Ce compte ne s’est jamais connecté à ce panneau. Actualisez la liste.',
  account_unusable:
    'L’hôte n’admet plus ce compte\u00a0: il est supprimé, verrouillé ou expiré. Adressez-vous à un administrateur de l’hôte.',
  bar_self: 'Vous ne pouvez pas exclure votre propre compte. Demandez-le à un autre administrateur.',
  challenge_elsewhere: 'Une autre instance de ce panneau attend cette réponse. Recommencez la connexion.',
  challenge_expired: 'L’hôte n’attend plus de réponse. Recommencez la connexion.',
  challenge_over:
    'Cette demande n’est plus valable\u00a0: elle a expiré, a déjà servi, ou a reçu trop de mauvaises réponses. Recommencez.',
  enrolment_required: 'Ce panneau exige d’abord un second facteur de votre compte. Rechargez la page pour l’ajouter.',
  factor_locked:
    'Trop de mauvaises réponses\u00a0: ce moyen est verrouillé pour l’instant. Utilisez-en un autre, ou patientez.',
  factor_missing: 'Ce second facteur n’existe plus. Actualisez la page.',
  factor_needed: 'Ce panneau exige un second facteur, et celui-ci est votre dernier. Ajoutez-en d’abord un autre.',
  factor_proof_required: 'Le mot de passe ne suffit pas. Confirmez avec votre second facteur.',
  factor_required: 'Le mot de passe est accepté. Donnez maintenant votre second facteur.',
  factor_wrong:
    'Ce n’est pas la bonne réponse, ou elle a déjà servi. Attendez le code suivant, ou utilisez un autre moyen.',
  factors_full: 'Vous avez déjà autant de seconds facteurs que possible. Supprimez-en un, puis réessayez.',
  host_account_missing:
    'L’hôte ne connaît pas ce compte, ou ne le laisse pas travailler. Corrigez cela sur l’hôte, puis rouvrez le lien.',
  host_silent: 'L’hôte ne dit pas pour l’instant si ce compte est encore admis. Patientez et réessayez.',
  malformed_http: 'La requête est mal formée. Rechargez la page et réessayez.',
  method_not_allowed: 'Cette action n’est pas prévue par le service. Rechargez la page\u00a0: il a peut-être changé.',
  more_asked: 'L’hôte demande plus que le mot de passe. Répondez à ses questions.',
  not_invited:
    'Votre compte n’est dans aucun des groupes admis ici. Demandez à un administrateur de l’hôte de l’y mettre.',
  passkey_invalid: 'Le panneau n’accepte pas cette clé d’accès. Recommencez, ou prenez-en une autre.',
  passkey_known: 'Cette clé d’accès est déjà enregistrée. Utilisez-la, ou prenez-en une autre.',
  passkey_refused: 'Cette clé d’accès n’est pas connue ici, ou n’est plus admise. Connectez-vous autrement.',
  passkey_sign_in_off:
    'Ce panneau n’admet pas la connexion par clé d’accès seule. Connectez-vous avec votre mot de passe.',
  passkeys_need_name:
    'Les clés d’accès demandent un panneau ouvert par son nom, en https. Ouvrez-le ainsi, ou prenez une application d’authentification.',
  prompts_impossible:
    'L’hôte demande plus qu’un mot de passe, ce que cet hébergement du panneau ne permet pas. Utilisez une autre adresse du panneau.',
  rights_unknown:
    'L’hôte n’indique pas pour l’instant les groupes de votre compte, dont vos droits dépendent. Patientez et réessayez.',
  ssh_key_missing: 'Demandez d’abord la clé du compte de service, et ajoutez sa ligne sur l’hôte. Vérifiez ensuite.',
  ssh_key_none_waiting: 'Aucune nouvelle clé n’attend. Recommencez le changement de clé.',
  ssh_key_refused:
    'L’hôte refuse la nouvelle clé, et l’ancienne reste en service. Vérifiez que sa ligne est sur l’hôte, puis réessayez.',
  step_up_required: 'Rien n’a été fait\u00a0: vous n’avez pas confirmé qui vous êtes. Recommencez, puis confirmez.',
  sudo_wants_password: 'sudo demande encore un mot de passe sur l’hôte. Ajoutez-y d’abord cette règle.',
  target_forbidden:
    'Vos droits ne s’étendent pas à toutes ces cibles. Choisissez les vôtres, ou demandez à un administrateur.',
  token_expiry_invalid: 'Un jeton expire dans 400 jours au plus. Indiquez une durée ou une date à venir, pas les deux.',
  token_exceeds: 'Un jeton ne peut pas avoir plus de droits que vous. Changez son rôle ou ses cibles.',
  token_missing: 'Ce jeton n’existe plus. Actualisez la liste.',
  tokens_full: 'Vous avez déjà autant de jetons que possible. Révoquez-en un, puis réessayez.',
  oidc_denied: 'Le fournisseur ne vous a pas identifié, ou vous avez annulé. Recommencez.',
  oidc_invalid:
    'La réponse du fournisseur n’est pas valable. Recommencez\u202f; si cela se répète, prévenez un administrateur.',
  oidc_unreachable: 'Le fournisseur ne répond pas. Patientez et réessayez, ou connectez-vous autrement.',
}
