import * as z from 'zod'
import { defineJob } from '../../jobs/jobs.ts'
import { helped, script } from '../../ssh/ssh.ts'
import { inContainer } from '../hypervisor/pct.ts'
import { parseTarget } from '../hypervisor/target.ts'
import { fail } from '../services.ts'
import { LIST_UNFINISHED, parseUnfinished, sudoFor } from '../updates/apt.ts'
import { queueOf, UPDATE_EVENT } from '../updates/upgrade.ts'
import { RemedyAction } from './finding.ts'

/**
 * `REPAIR <sudo>`, on the host or inside a container: completes an interrupted dpkg operation, then has apt fix unmet
 * dependencies without removing packages. Where the sudo rule names apt-get alone, dpkg runs as its hook, as for an
 * upgrade (`STEPS` of apt.ts). Exits with 0 when nothing is left unfinished.
 */
export const REPAIR = `
sudo=$1
export LC_ALL=C DEBIAN_FRONTEND=noninteractive APT_LISTCHANGES_FRONTEND=none NEEDRESTART_MODE=l
unset TMPDIR TEMPDIR TMP TEMP
repair='dpkg --force-confdef --force-confold --configure -a'
set -- -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold -o DPkg::Lock::Timeout=120 \\
  -o Dpkg::Use-Pty=0 -o APT::Color=0
if [ -z "$sudo" ]; then
  $repair </dev/null
else
  $sudo apt-get "$@" -o "APT::Update::Pre-Invoke::=DEBIAN_FRONTEND=noninteractive $repair || true" update </dev/null
fi
$sudo apt-get -y "$@" --no-remove -f install </dev/null
# How things are now counts, not how each step went.
code=0
audit=$(dpkg --audit 2>/dev/null) || code=1
[ -z "$audit" ] || code=1
[ -z "$(ls /var/lib/dpkg/updates 2>/dev/null)" ] || code=1
apt-get -o Debug::NoLocking=1 -qq check </dev/null >/dev/null 2>&1 || code=1
if [ "$code" = 0 ]; then echo 'Nothing is left unfinished.'; else echo 'Something is still unfinished.'; fi
exit "$code"
`

/** The job that repairs a target. */
export const remedyJob = defineJob({
  kind: 'remedy',
  event: UPDATE_EVENT,
  args: z.object({ target: z.string(), action: RemedyAction }),
  queue: ({ target }) => queueOf(target),
  bounds: { ofTarget: 3, ofUser: 10, ofAll: 50 },

  async command({ target: text }, host) {
    const target = parseTarget(text)
    if (!target || target.kind === 'all') throw fail('target_invalid', { values: { target: text } })
    const elevation = await host.elevation()
    if (elevation === 'helper') return helped(['repair', target.kind === 'host' ? 'host' : target.id])
    if (target.kind === 'host') return script(REPAIR, 'ops-panel-repair', sudoFor(elevation))
    const inside = inContainer(target.id, script(REPAIR, 'ops-panel-repair', ''))
    return elevation === 'rule' ? ['sudo', '-n', ...inside] : inside
  },

  async leftovers({ target: text }, host) {
    const target = parseTarget(text)
    const { code, stdout } =
      target?.kind === 'container'
        ? await host.exec(inContainer(target.id, LIST_UNFINISHED), {
            rights: 'command',
            verb: ['unfinished', target.id],
          })
        : await host.exec(LIST_UNFINISHED)
    const packages = code === 0 ? await parseUnfinished(stdout) : []
    return packages.length > 0 ? [`dpkg n’a pas fini : ${packages.join(', ')}.`] : []
  },
})
