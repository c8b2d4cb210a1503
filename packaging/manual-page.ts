/** Returns the page of `man ops-panel`, made from the output of `ops-panel --help`, so that the two never differ. */
export function manualPage(help: string, version: string, seconds: number): string {
  const [title = '', ...rest] = help.trimEnd().split('\n')
  const summary = title.split(' — ')[1] ?? ''
  const body = rest.join('\n').trim()
  const day = new Date(seconds * 1000).toISOString().slice(0, 10)
  return `'\\" -*- coding: utf-8 -*-
.TH OPS-PANEL 1 ${day} "ops-panel ${version}" "Administration du système"
.SH NOM
ops-panel \\- ${roff(summary)}
.SH UTILISATION
.nf
${body.split('\n').map(line).join('\n')}
.fi
.SH FICHIERS
.TP
.I /etc/ops-panel/ops-panel.env
La configuration du service ; ses commandes la lisent aussi, quand elles sont tapées en root et que PANEL_DATA_DIR n\\(cqest pas
dans l\\(cqenvironnement.
.TP
.I /var/lib/ops-panel
Les données : la base, sa clé, les modules. Supprimées par « apt purge », jamais par « apt remove ».
.TP
.I /var/lib/ops-panel/setup-token
Le jeton d\\(cqinstallation, jusqu\\(cqà ce que le panneau soit installé.
.SH VOIR AUSSI
.BR systemctl (1),
.BR journalctl (1)
`
}

/** Returns a line of its own. Its `\&` keeps troff from reading an initial dot as a request. */
function line(text: string): string {
  return text.trim() === '' ? '.sp' : `\\&${roff(text)}`
}

function roff(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll("'", '\\(aq').replaceAll('’', '\\(cq')
}
