/*
 * The part of an inspection that finds applications beside the packages, and its reader. The kinds have looks of their own;
 * each answer is a section of the inspection.
 */
import { type Finding, findingOf } from '../findings/finding.ts'
import { FoundApplication, MOST_APPLICATIONS } from './application.ts'
import { COMMUNITY_LOOK, communityScript } from './community-look.ts'
import { COMPOSE } from './compose.ts'
import { composeReport } from './compose-report.ts'
import { ASKED, type LookProblem, problemSentence } from './look-problems.ts'
import { PEOPLE, peopleReport } from './people.ts'

/** Seconds after the beginning of an inspection in which its looks at applications have to end. */
const UNTIL = 105
/** Seconds of one look, and of that for the community script, which reads two files. */
const LONGEST = 45
const LONGEST_OF_SCRIPT = 10
/** Seconds without which a look does not begin. */
const LEAST = 5

/**
 * Adds the sections `community`, `compose` and `people`. It uses `section` and `$begun` of the inspection, the second of
 * its beginning: the looks ask registries, and the packages of a target are told also where these do not answer. A look
 * that is cut off has no last line. The host helper contains this text: any change of it, even of a comment, needs a new
 * `HELPER_VERSION`.
 */
export const APPLICATIONS = `${ASKED}${COMPOSE}${PEOPLE}${COMMUNITY_LOOK}
# look_within SECONDS NAME FUNCTION: a section with what the function prints, ended in time
look_within() {
  rest=$((${UNTIL} - $(date +%s) + begun))
  [ "$rest" -le "$1" ] || rest=$1
  shift
  # In a folder of its own: another account could make a file with the name of the second one.
  if [ "$rest" -lt ${LEAST} ] || ! looked=$(mktemp -d /tmp/ops-panel-look-XXXXXXXX); then
    : | section "$1"
    return
  fi
  last=$(($(date +%s) + rest))
  {
    "$2" >"$looked/told" 2>/dev/null
    : >"$looked/end"
  } </dev/null >/dev/null 2>&1 &
  looker=$!
  while [ ! -e "$looked/end" ] && [ "$(date +%s)" -lt "$last" ]; do sleep 0.1 2>/dev/null || sleep 1; done
  # What it has begun ends by itself.
  [ -e "$looked/end" ] || kill -s TERM "$looker" 2>/dev/null
  head -c 1000000 "$looked/told" | section "$1"
  rm -rf "$looked"
}
community_look() {
  community_script
  echo 'code|0'
}
look_within ${LONGEST_OF_SCRIPT} community community_look
look_within ${LONGEST} people people_look
look_within ${LONGEST} compose compose_look
`

/** The applications of a target, and what its looks could not tell. */
export interface ReportedApplications {
  applications: FoundApplication[]
  findings: Finding[]
}

/** Names in a finding, and characters of a problem. */
const NAMED = 20
const LONGEST_PROBLEM = 200

/**
 * Reads the sections of `APPLICATIONS`. The panel updates applications of containers alone, and a host has no community
 * script of its own. A look that is not whole is told, so that nobody takes it for one that has found nothing newer.
 */
export function reportedApplications(
  sections: ReadonlyMap<string, readonly string[]>,
  place: 'host' | 'container',
): ReportedApplications {
  const section = (name: string) => (sections.get(name) ?? []).filter((line) => line !== '')
  const community = place === 'host' ? [] : section('community')
  const scripts = community.flatMap((line) => communityScript(line) ?? [])
  const isWhole = place === 'host' || !sections.has('community') || community.at(-1) === 'code|0'
  const compose = sections.has('compose') ? composeReport(section('compose')) : NOTHING
  const people = sections.has('people') ? peopleReport(section('people')) : NOTHING
  const stacks = (compose?.applications ?? []).map((each) => (place === 'host' ? { ...each, updatable: false } : each))
  // An application that cannot be stored must not take the packages of its target along.
  const all = [...scripts.slice(0, 1), ...stacks, ...(people?.applications ?? [])]
  const applications = all.filter((each) => FoundApplication.safeParse(each).success).slice(0, MOST_APPLICATIONS)
  const left = all.find((each) => !applications.includes(each))
  const problems: LookProblem[] = [
    ...(isWhole ? [] : [{ ...CUT_OFF, kind: 'community_script' as const }]),
    ...(compose?.problems ?? [CUT_OFF]),
    ...(people?.problems ?? [{ ...CUT_OFF, kind: 'flatpak' as const }]),
    ...(left ? [{ ...CUT_OFF, kind: left.kind }] : []),
  ]
  return { applications, findings: findingsOf(applications, problems) }
}

const NOTHING = { applications: [], problems: [] }
const CUT_OFF: LookProblem = { kind: 'compose', name: null, message: 'the look was not whole' }

function findingsOf(applications: readonly FoundApplication[], problems: readonly LookProblem[]): Finding[] {
  const newer = applications.filter(({ available }) => available !== null)
  const scripts = applications.filter(({ kind }) => kind === 'community_script')
  const names = (of: readonly FoundApplication[]) => of.map(({ name }) => name)
  const told = (of: readonly string[]) =>
    `${of.slice(0, NAMED).join(', ')}${of.length > NAMED ? ` et ${of.length - NAMED} autres` : ''}`
  const version = ({ name, version: noted }: FoundApplication) => (noted === null ? name : `${name} (${noted})`)
  return [
    ...(scripts.length > 0
      ? [
          findingOf('application_update', {
            packages: names(scripts),
            message: `Se met à jour par son propre script, et non par les paquets : ${told(scripts.map(version))}.`,
          }),
        ]
      : []),
    ...(newer.length > 0
      ? [
          findingOf('application_update', {
            packages: names(newer),
            message: `Une version plus récente de ces applications est proposée : ${told(names(newer))}.`,
          }),
        ]
      : []),
    ...problems.slice(0, NAMED).map((each) =>
      findingOf('application_update', {
        severity: 'warning',
        packages: each.name === null ? [] : [each.name],
        message: `Application non vérifiée — ${problemSentence({ ...each, message: each.message.slice(0, LONGEST_PROBLEM) })}`,
      }),
    ),
  ]
}
