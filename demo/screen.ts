/** The text that `npm run demo` prints when it is ready: the address, the accounts, and commands to copy. */
export function screen({ url, sshPort }: { url: string; sshPort: number }): string {
  return `
  ops-panel : démonstration
  ─────────────────────────
  Hôte de démonstration : imitation, rien n’est exécuté sur cette machine.
  Un hôte et vingt et un conteneurs, dans des états divers, vivent en mémoire ; tout s’oublie à l’arrêt.

  Adresse        ${url}
  Utilisateurs   demo / demo     (administrateur)
                 guest / guest   (sans droits particuliers)
                 operator / operator, web / web, viewer / viewer   (groupes operators, web et viewers)

  Chacun peut lancer des mises à jour, sauf si les groupes donnent des rôles :

PANEL_VIEWER_GROUPS=viewers PANEL_OPERATOR_GROUPS='operators;web:lxc/101,lxc/102' npm run demo

  Ouvrez l’adresse dans un navigateur. Ou essayez l’API dans un autre terminal, dans l’ordre,
  depuis ce dossier :

  1. Se connecter

PANEL=${url}
TOKEN=$(curl -s "$PANEL/api/auth/login" -H 'Content-Type: application/json' -d '{"username":"demo","password":"demo"}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

  2. Voir les cibles, puis les mises à jour du conteneur 101

curl -s "$PANEL/api/updates/targets" -H "Authorization: Bearer $TOKEN"; echo
curl -s "$PANEL/api/updates/packages?target=lxc:101" -H "Authorization: Bearer $TOKEN"; echo

  3. Le mettre à jour (une dizaine de secondes) et suivre en direct

JOB=$(curl -s "$PANEL/api/updates/run" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"target":"lxc:101"}' | sed 's/.*"job_id":"\\([^"]*\\)".*/\\1/')
npm run --silent demo:watch -- "$PANEL" "$JOB" "$TOKEN"

  4. Lire l’historique

curl -s "$PANEL/api/updates/history?output=none" -H "Authorization: Bearer $TOKEN"; echo

  5. Ouvrir un terminal (imité) dans un conteneur ; exit le termine

npm run --silent demo:terminal -- "$PANEL" lxc:101 "$TOKEN"

  6. Voir un plan avant de le lancer (docs/upgrades.md)

curl -s "$PANEL/api/updates/plans" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"target":"lxc:110"}'; echo

  lxc:110 : une version plus récente paraît une minute après le plan, ou à la prochaine vérification ; le plan est
  alors refusé. lxc:106 : une mise à jour y retire des paquets, si le plan le permet.

  7. Mettre à jour avec protection : un plan d’un conteneur se lance avec un instantané avant et une comparaison après

PLAN=$(curl -s "$PANEL/api/updates/plans" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"target":"lxc:107"}' | sed 's/.*"id":"\\([0-9a-f]*\\)".*/\\1/')
JOB=$(curl -s "$PANEL/api/updates/run" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d "{\\"target\\":\\"lxc:107\\",\\"plan\\":\\"$PLAN\\"}" | sed 's/.*"job_id":"\\([^"]*\\)".*/\\1/')
npm run --silent demo:watch -- "$PANEL" "$JOB" "$TOKEN"
curl -s "$PANEL/api/updates/jobs/$JOB" -H "Authorization: Bearer $TOKEN"; echo

  lxc:107 et lxc:112 : leur mise à jour casse ce qui y tournait, et l’on choisit de revenir en arrière ou de garder.
  lxc:115 : la panne est annulée d’elle-même. lxc:119 : un service lent à revenir n’est pas une panne. lxc:108 et
  lxc:117 : leur stockage ne sait pas faire d’instantané.

  8. Dans le panneau, redémarrer l’hôte, qui le demande

  lxc:114 ne démarre pas avec l’hôte, et n’en revient donc pas. Le panneau est censé fonctionner dans lxc:118, qui en a
  une version plus récente.

  D’autres cibles : host, lxc:102, all (lxc:103 est arrêté). Le SSH de l’imitation écoute sur 127.0.0.1:${sshPort}.
  Ctrl-C arrête tout.
`
}
