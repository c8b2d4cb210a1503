import { quote, script } from '../../ssh/ssh.ts'
import { INSPECTION } from '../checks/check-script.ts'
import { ALLOW, CLEAN, HOLD, MANUAL, REPAIR, UNHOLD } from '../checks/remedy-scripts.ts'
import { CONTAINER_TOOL } from '../hypervisor/pct.ts'
import { MANAGERS, THEN_RUN } from '../managers/managed-scripts.ts'
import { LIST_UPGRADABLE, STEPS } from '../updates/apt.ts'
import { COMPARE } from '../plans/conffile-scripts.ts'
import { PLAN, PLANNED } from '../plans/plan-script.ts'
import { HEALTH } from '../protection/health-script.ts'
import { FORGET, ROOM, STATE, UNLOCK } from '../protection/step-scripts.ts'
import { STORAGE } from '../protection/storage-script.ts'
import { RESTART } from '../restarts/restart-script.ts'
import { CHANGELOG } from '../updates/changelog-script.ts'
import { UNFINISHED } from '../updates/unfinished.ts'

/** A script in a target, which has the functions of every package manager. */
const managed = (text: string, name: string, ...args: string[]) =>
  `sh -c "$managers"${quote([THEN_RUN])} ${quote([name, text, ...args])}`

const READ_LISTS = 'exec apt-get -o APT::Update::Error-Mode=any -o APT::Color=0 update </dev/null'
const upgrade = managed(STEPS, 'ops-panel-apt', '')
const refresh = quote(script(READ_LISTS, 'ops-panel-apt'))
const repair = quote(script(REPAIR, 'ops-panel-repair', ''))
const look = managed(INSPECTION, 'ops-panel-look', '')
const allow = quote(script(ALLOW, 'ops-panel-allow', ''))
const hold = quote(script(HOLD, 'ops-panel-hold', ''))
const unhold = quote(script(UNHOLD, 'ops-panel-unhold', ''))
const clean = quote(script(CLEAN, 'ops-panel-clean', ''))
const manual = quote(script(MANUAL, 'ops-panel-manual', ''))
const plan = managed(PLAN, 'ops-panel-plan')
const planned = managed(PLANNED, 'ops-panel-planned', '')
const unfinished = managed(UNFINISHED, 'ops-panel-unfinished')
const compare = quote(script(COMPARE, 'ops-panel-compare', 'public'))
const changelog = quote(script(CHANGELOG, 'ops-panel-changelog'))
/** `FLAGS <id>`: of a container's configuration, only whether it is a template and what has locked it. */
const FLAGS = `
config=$(${CONTAINER_TOOL} config "$1") || exit
printf '%s\\n' "$config" | grep -x -e 'template: 1' -e 'lock: [a-z-]*'
exit 0
`
const flags = quote(script(FLAGS, 'ops-panel-flags'))
const health = quote(script(HEALTH, 'ops-panel-health'))
const unlock = quote(script(UNLOCK, 'ops-panel-unlock', ''))
const forget = quote(script(FORGET, 'ops-panel-forget', ''))
const storage = quote(script(STORAGE, 'ops-panel-storage'))
const room = quote(script(ROOM, 'ops-panel-room', ''))
const state = quote(script(STATE, 'ops-panel-state', ''))
const restart = quote(script(RESTART, 'ops-panel-restart', ''))

/**
 * The end of the host helper: the check of the arguments of each verb, and its command. It uses `work`, `refuse` and
 * `end_session` of the program, and the checks of `helper-arguments.ts`.
 */
export const VERBS = `# The account cannot signal processes of root, so the verbs that only read have their time limits here.
verb=\${1-}
case $verb:$# in
  version:1)
    echo "$VERSION"
    exit
    ;;
  list:1) work apart timeout -k 5 55 ${CONTAINER_TOOL} list ;;
  reboot-host:1) work together systemctl reboot ;;
  status:2 | start:2 | stop:2 | shutdown:2 | reboot:2 | packages:2 | unfinished:2)
    is_container "$2" || refuse 'this is not the number of a container'
    ;;
  upgrade:2 | refresh:2 | look:2 | clean:2 | manual:2)
    is_place "$2" || refuse 'this is neither host nor the number of a container'
    ;;
  repair:[2-9] | repair:[1-9][0-9] | repair:[1-9][0-9][0-9] | \\
    allow:[3-9] | allow:[1-4][0-9] | unhold:[3-9] | unhold:[1-9][0-9] | unhold:[1-9][0-9][0-9] | \\
    hold:[3-9] | hold:[1-9][0-9] | hold:[1-9][0-9][0-9])
    is_place "$2" || refuse 'this is neither host nor the number of a container'
    if [ "$verb" = allow ]; then
      (shift 2 && for each; do is_text 300 "$each" || exit; done) || refuse 'this is not the name of a repository'
    else
      (shift 2 && for each; do is_package "$each" || exit; done) || refuse 'this is not the name of a package'
    fi
    ;;
  plan:[5-9] | plan:[1-9][0-9] | plan:[1-9][0-9][0-9] | planned:[7-9] | planned:[1-9][0-9] | planned:[1-9][0-9][0-9])
    is_place "$2" || refuse 'this is neither host nor the number of a container'
    words=2
    if [ "$verb" = planned ]; then
      is_hash "$3" || refuse 'this is not a hash'
      is_files "$4" || refuse 'these are not files'
      words=4
    fi
    (shift "$words" && is_selection "$@") || refuse 'this is not a selection'
    ;;
  restart:[3-9] | restart:[1-4][0-9] | restart:5[0-2])
    is_place "$2" || refuse 'this is neither host nor the number of a container'
    (shift 2 && for each; do is_service "$each" || exit; done) || refuse 'this is not the name of a service'
    ;;
  compare:[3-9] | compare:[1-9][0-9] | compare:10[0-2])
    is_place "$2" || refuse 'this is neither host nor the number of a container'
    (shift 2 && for each; do is_offer "$each" || exit; done) || refuse 'this is not a version of a package'
    ;;
  snapshot:3 | rollback:3 | forget:3 | state:3)
    is_container "$2" || refuse 'this is not the number of a container'
    is_snapshot "$3" || refuse 'this is not a snapshot of the panel'
    ;;
  health:2 | health:[3-9] | health:1[0-9] | health:2[0-2])
    is_container "$2" || refuse 'this is not the number of a container'
    (shift 2 && is_look "$@") || refuse 'this is nothing to look at'
    ;;
  storage:2) [ "$2" = all ] || is_container "$2" || refuse 'this is neither all nor the number of a container' ;;
  snapshots:2 | room:2 | unlock:2) is_container "$2" || refuse 'this is not the number of a container' ;;
  flags:2) is_container "$2" || refuse 'this is not the number of a container' ;;
  changelog:4)
    is_container "$2" || refuse 'this is not the number of a container'
    is_package "$3" || refuse 'this is not the name of a package'
    is_version "$4" || refuse 'this is not a version'
    ;;
  end:3)
    case $2 in '' | 0* | *[!0-9]*) refuse 'this is not the number of a session' ;; esac
    [ "\${#2}" -le 7 ] || refuse 'this is not the number of a session'
    case $3 in TERM | KILL) ;; *) refuse 'a signal is TERM or KILL' ;; esac
    end_session "$2" "$3"
    exit
    ;;
  *) refuse 'it does not know this verb, or not with so many words; a newer one may (ops-panel host helper)' ;;
esac

managers=${quote([MANAGERS])}
place=$2 inside=
[ "$place" = host ] || inside="${CONTAINER_TOOL} exec $place --"
shift 2
case $verb in
  status) work apart timeout -k 5 55 ${CONTAINER_TOOL} status "$place" ;;
  flags) work apart timeout -k 5 55 ${flags} "$place" ;;
  snapshots) work apart timeout -k 5 55 ${CONTAINER_TOOL} listsnapshot "$place" ;;
  storage) work apart timeout -k 5 55 ${storage} "$place" ;;
  room) work apart timeout -k 5 55 ${room} "$place" ;;
  state) work apart timeout -k 5 55 ${state} "$place" "$@" ;;
  health) work apart timeout -k 5 30 $inside ${health} "$@" ;;
  unlock) work whole ${unlock} "$place" ;;
  snapshot) work whole ${CONTAINER_TOOL} snapshot "$place" "$1" --description 'ops-panel: before an upgrade' ;;
  forget) work whole ${forget} "$place" "$1" ;;
  rollback) work whole ${CONTAINER_TOOL} rollback "$place" "$1" --start 1 ;;
  packages) work apart timeout -k 5 55 $inside ${quote(LIST_UPGRADABLE)} ;;
  unfinished) work apart timeout -k 5 55 $inside ${unfinished} ;;
  plan) work apart timeout -k 5 115 $inside ${plan} "$@" ;;
  planned) work together $inside ${planned} "$@" ;;
  compare) work apart timeout -k 5 115 $inside ${compare} "$@" ;;
  changelog) work apart timeout -k 5 60 $inside ${changelog} "$@" ;;
  upgrade) work together $inside ${upgrade} ;;
  refresh) work together $inside ${refresh} ;;
  repair) work together $inside ${repair} "$@" ;;
  allow) work together $inside ${allow} "$@" ;;
  hold) work together $inside ${hold} "$@" ;;
  unhold) work together $inside ${unhold} "$@" ;;
  clean) work together $inside ${clean} ;;
  manual) work together $inside ${manual} ;;
  restart) work together $inside ${restart} "$@" ;;
  look) work together timeout -k 5 115 $inside ${look} ;;
  start | stop | shutdown | reboot) work together ${CONTAINER_TOOL} "$verb" "$place" ;;
esac
`
