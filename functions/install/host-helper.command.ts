import { defineCommand } from '../../runtime/command.ts'
import { HOST_HELPER } from '../../ssh/ssh.ts'
import { HELPER_VERSION } from '../elevation/installed-helper.ts'
import { HOST_HELPER_PROGRAM, HOST_HELPER_SHA256 } from './host-helper.ts'

/** Writes the host helper program. With it, the service account needs no sudo rule that is equivalent to root. */
export default defineCommand({
  name: 'host helper',
  summary: 'donner le programme qui limite les droits du compte de service sur l’hôte, et dire comment l’installer',
  flags: { print: 'n’écrire que le programme, pour le copier sur l’hôte' },
  data: 'none',

  async run({ flags }) {
    if (flags.has('print')) return HOST_HELPER_PROGRAM.trimEnd()
    return `ops-panel-host, version ${HELPER_VERSION} : un programme de root sur l’hôte, que le compte de service lance par sudo,
et rien d’autre. Il met à jour, liste, démarre et arrête ; il ne prend ni option, ni fichier, ni environnement.

1. Le copier sur l’hôte (le paquet Debian d’ops-panel l’y met déjà) :
   ops-panel host helper --print | ssh root@<hôte> 'install -m 755 /dev/stdin ${HOST_HELPER}'
2. Le comparer, sur l’hôte, avec sha256sum ${HOST_HELPER} :
   ${HOST_HELPER_SHA256}
3. Le permettre au compte de service, « panel » par exemple, et à lui seul (visudo vérifie la ligne) :
   ssh -t root@<hôte> visudo -f /etc/sudoers.d/ops-panel
   panel ALL=(root) NOPASSWD: ${HOST_HELPER}
4. Retirer à ce compte toute autre règle sudo : apt-get ou pct, par sudo, donnent tous les droits de root.
   « ops-panel doctor » dit ensuite ce qu’il en est ; le service le remarque en cinq minutes.`
  },
})
