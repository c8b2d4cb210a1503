import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ASKED } from '../../../functions/applications/look-problems.ts'
import { COMPOSE } from '../../../functions/applications/compose.ts'
import { RUN_COMPOSE } from '../../../functions/applications/compose-run.ts'
import { PEOPLE } from '../../../functions/applications/people.ts'
import { inside } from '../protection/look.ts'

/*
 * A docker that answers as Docker 28.2 with Compose 2.26 does: the columns of the formats, the YAML of `config` with two
 * spaces for each level, the exit codes, and the words on stderr. test/docker/applications.test.ts shows the same of the real ones. Its state are the files beside it. It refuses a command
 * that it does not know, an `up` that may pull, and each option that it has not seen.
 */

const DOCKER = `folder=\${0%/*}
cd "$folder/state" || exit
echo "$*" >>calls
[ -z "\${LEAK:-}" ] || echo "LEAK=$LEAK $*" >>leaks
of_image() { awk -F '|' -v id="$1" '$1 == id { print; found = 1 } END { exit !found }' images; }
id_of() {
  case $1 in
    sha256:*) of_image "$1" | cut -d '|' -f 1 ;;
    *@*) awk -F '|' -v d="@\${1##*@}\\"" 'index($2, d) { print $1; exit }' images ;;
    *) awk -F '|' -v r="$1" '$1 == r { print $2; exit }' tags ;;
  esac
}
case "$1 $2" in
  'compose version')
    if [ -n "\${ALONE:-}" ]; then cat version-alone; else cat version; fi
    exit
    ;;
  'ps -a')
    [ -e engine-fails ] && { echo 'Cannot connect to the Docker daemon at http://user:secret@x|y.' >&2; exit 1; }
    project=\${6#*project}
    awk -F '|' -v p="\${project#=}" '$5 == p || p == "" { print $1 }' containers
    exit
    ;;
  'inspect --type')
    case $5 in
      # Beside {{.Id}}, it reads the plain answer, where a key that is not there is an error.
      *.State.Health*) echo 'template parsing error: map has no entry for key "Health"' >&2; exit 1 ;;
      *StartedAt*) view=steady ;;
      *) view=labels ;;
    esac
    shift 5
    [ ! -e loops ] || { echo >>starts; }
    [ "$view" = labels ] || { awk -F '|' -v starts="$(wc -l <starts 2>/dev/null)" -v loops="$(cat loops 2>/dev/null)" -v health="$(cat health 2>/dev/null)" '
        {
          split(health, part, " ")
          printf "\\"%s\\"|%s|2026-03-01T12:00:0%s.5Z|%s|%s|%s\\n", $6, $1, $6 == loops ? starts : 0, $3, part[1] == $6 ? part[2] : "", $11
        }' containers; exit; }
    for id; do
      awk -F '|' -v id="$id" -v OFS='\\t' '
        function q(text) { return text == "" ? "null" : "\\"" text "\\"" }
        $1 == id { print $1, $2, $3, q($4), q($5), q($6), q($7), q($8), q($9), q($10), q($11) }' containers
    done
    exit
    ;;
  'image inspect')
    id=$(id_of "$5")
    [ -n "$id" ] || { echo "Error response from daemon: No such image: $5" >&2; exit 1; }
    case $4 in
      '{{.Id}}') echo "$id" ;;
      '{{json .RepoDigests}}') of_image "$id" | cut -d '|' -f 2 ;;
      *) of_image "$id" | cut -d '|' -f 2- ;;
    esac
    exit
    ;;
esac
case $1 in
  pull)
    [ $# = 2 ] || exit 125
    [ ! -e before-pull ] || . ./before-pull
    line=$(awk -F '|' -v d="\${2##*@}" '$1 == d' registry-images)
    case $2 in *@sha256:*) ;; *) exit 125 ;; esac
    [ -n "$line" ] || { echo "Error response from daemon: manifest unknown" >&2; exit 1; }
    echo "\${line#*|}|[\\"$2\\"]|null" >>images
    echo "Digest: \${2##*@}"
    ;;
  tag)
    [ -n "$(id_of "$2")" ] || exit 1
    ! grep -q -s -x -F "$3" tag-fails || exit 1
    id=$(id_of "$2")
    grep -v "^$3|" tags >tags.new
    echo "$3|$id" >>tags.new
    mv tags.new tags
    ;;
  compose)
    shift
    project= files= services= scales= verb= ask= may=pull
    while [ $# -gt 0 ]; do
      case $1 in
        -p) project=$2; shift ;;
        -f) files="$files $2"; shift ;;
        --ansi | --project-directory | --env-file | --profile) shift ;;
        --resolve-image-digests) ask=1 ;;
        --no-interpolate) [ -z "$ask" ] || verb=resolve ;;
        config | up) verb=$1 ;;
        -d | --no-build | --no-deps | --remove-orphans=false) ;;
        --pull) may=$2; shift ;;
        --scale) scales="$scales $2"; shift ;;
        -*) echo "unknown flag: $1" >&2; exit 16 ;;
        *) services="$services $1" ;;
      esac
      shift
    done
    case $verb in
      config)
        for each in $files; do [ -f "$each" ] || { echo "open $each: no such file or directory" >&2; exit 14; }; done
        cat "warnings.$project" >&2 2>/dev/null
        cat "config.$project" 2>/dev/null || { echo 'unexpected character "-" in variable name near "DB-PASSWORD=hunter2"' >&2; exit 15; }
        ;;
      resolve)
        image=$(sed -n 's/^    image: "\\(.*\\)"$/\\1/p')
        digest=$(awk -F '|' -v r="$image" '$1 == r { print $2; exit }' registry)
        [ -n "$digest" ] || { echo "failed to resolve digest for docker.io/$image: unauthorized: authentication required" >&2; exit 1; }
        printf 'name: ops-panel-asked\\nservices:\\n  asked:\\n    image: docker.io/library/%s@%s\\n    networks:\\n      default: null\\n' "$image" "$digest"
        ;;
      up)
        [ "$may" = never ] || exit 125
        [ ! -e up-fails ] || { echo 'Error response from daemon: port is already allocated' >&2; exit 1; }
        for name in $services; do
          image=$(awk -v s="  $name:" '$0 == s { on = 1; next } /^  [^ ]/ { on = 0 } on && $1 == "image:" { print $2 }' "config.$project")
          id=$(id_of "$image")
          state=running
          [ ! -e "exits.$name" ] || state=exited
          awk -F '|' -v OFS='|' -v p="$project" -v s="$name" -v id="$id" -v state="$state" '$5 == p && $6 == s { $1 = $1 "n"; $2 = id; if (s != "migrate") $3 = state } { print }' containers >containers.new
          mv containers.new containers
        done
        [ ! -e after-up ] || . ./after-up
        echo ' Container recreated' >&2
        ;;
      *) exit 125 ;;
    esac
    ;;
  *) exit 125 ;;
esac`

export const sha = (character: string) => `sha256:${character.repeat(64)}`

export interface Running {
  project?: string
  service: string
  image: string
  /** The image that the container names, where it is not that of the configuration. */
  reference?: string
  state?: string
  /** The labels of its place; `files` are made where they begin with the folder of the test. */
  files?: string
  variables?: string
  depends?: string
  oneoff?: string
}

export interface Engine {
  containers: Running[]
  /** Ids with their digests in a registry. */
  images: Record<string, string[]>
  /** Names with ids. */
  tags: Record<string, string>
  /** Names with the digests that the registry has for them. */
  registry: Record<string, string>
  /** Digests that can be pulled, with the ids that they get. */
  pullable?: Record<string, string>
  /** The output of `config` for each stack. */
  configs: Record<string, string>
  /** Images with a label of Compose of their own: that of its files, or that of the variables. */
  forged?: Record<string, 'config_files' | 'environment_file'>
}

/** The configuration of services with these images. */
export const config = (name: string, services: Record<string, string>, more = '') =>
  `name: ${name}\nservices:\n${Object.entries(services)
    .map(
      ([service, image]) =>
        `  ${service}:\n    environment:\n      KEY: secret of ${name}\n    image: ${image}\n    networks:\n      default: null\n${more}`,
    )
    .join('')}networks:\n  default:\n    name: ${name}_default\n`

const BUSYBOX = spawnSync('which', ['busybox']).stdout.toString().trim()

/** A target with this engine. */
export async function stacks(
  engine: Engine,
  { shell = 'sh', programs = {} }: { shell?: string; programs?: Record<string, string> } = {},
) {
  const { folder, root, bin } = await inside({
    files: { 'proc/77/comm': 'dockerd\n' },
    programs: { docker: DOCKER, 'docker-compose': 'exit 1', sleep: 'exit 0', ...programs },
  })
  const state = join(bin, 'state')
  await mkdir(state)
  const write = (name: string, text: string) => writeFile(join(state, name), text)
  const lines = (name: string, all: readonly string[]) => write(name, all.map((line) => `${line}\n`).join(''))
  const place = join(folder, 'compose.yml')
  await writeFile(place, 'services: {}\n')
  await write('version', '2.29.7\n')
  await lines(
    'containers',
    engine.containers.map(({ project = 'web', service, image, state: is = 'running', ...of }, at) =>
      [
        `${String(at)}`.padStart(64, 'c'),
        image,
        is,
        of.reference ?? 'old/image:1',
        project,
        service,
        folder,
        of.files ?? place,
        of.variables ?? '',
        of.depends ?? '',
        of.oneoff ?? 'False',
      ].join('|'),
    ),
  )
  await lines(
    'images',
    Object.entries(engine.images).map(([id, digests]) => {
      const labels = ['config_files', 'environment_file'].map((name) =>
        engine.forged?.[id] === name ? '"/data/evil"' : 'null',
      )
      return [id, JSON.stringify(digests), ...labels].join('|')
    }),
  )
  await lines(
    'tags',
    Object.entries(engine.tags).map((entry) => entry.join('|')),
  )
  await lines(
    'registry',
    Object.entries(engine.registry).map((entry) => entry.join('|')),
  )
  await lines(
    'registry-images',
    Object.entries(engine.pullable ?? {}).map((entry) => entry.join('|')),
  )
  for (const [name, text] of Object.entries(engine.configs)) await write(`config.${name}`, text)
  if (shell === 'busybox') {
    await mkdir(join(folder, 'applets'))
    const names = spawnSync(BUSYBOX, ['--list']).stdout.toString().trim().split('\n')
    for (const name of names) await symlink(BUSYBOX, join(folder, 'applets', name))
  }
  const rest = shell === 'busybox' ? join(folder, 'applets') : `${process.env.PATH}`
  /** Runs a script of the target in its place, in which only its own programs and its engine are. */
  const inPlace = (text: string, ...args: string[]) => {
    const here = text
      .replaceAll(/(?<= )\/(?=proc\/\[)/g, `${root}/`)
      .replaceAll('"/tmp/ops-panel-', `"${folder}/ops-panel-`)
      .replaceAll(':/usr/sbin:/sbin:/usr/bin:/bin', '')
    const [program, first] = shell === 'busybox' ? [BUSYBOX, ['sh']] : [shell, []]
    const { stdout, stderr, status } = spawnSync(program, [...first, '-c', here, 'name', ...args], {
      env: { PATH: `${bin}:${rest}`, LEAK: 'of the host', DOCKER_HOST: 'tcp://elsewhere', COMPOSE_FILE: '/elsewhere' },
      encoding: 'utf8',
      // bash reads ~/.bashrc where its stdin is a socket.
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return { code: status, stdout, stderr }
  }
  const run = (text: string, ...args: string[]) => {
    const { code, stdout, stderr } = inPlace(text, ...args)
    return { code, lines: `${stderr}${stdout}`.split('\n').slice(0, -1) }
  }
  return {
    folder,
    place,
    write,
    file: (name: string) => readFile(join(state, name), 'utf8').catch(() => ''),
    remove: async (name: string) => writeFile(join(root, name), ''),
    inPlace,
    look: async () => run(`${ASKED}${COMPOSE}compose_look\n`).lines,
    people: async () => run(`${ASKED}${PEOPLE}people_look\n`).lines,
    update: async (project: string, digest: string) => run(RUN_COMPOSE, project, digest),
    /** The temporary folders that are there now. */
    leftBehind: async () => (await readdir(folder)).filter((name) => name.startsWith('ops-panel-')),
  }
}
