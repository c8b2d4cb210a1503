/*
 * The answers of Docker and its Compose to a look at stacks (compose.ts): the formats that are asked for, and the awk programs
 * that read the answers. mawk knows no intervals in patterns.
 */

export const LABEL = 'com.docker.compose'
const label = (name: string) => `{{"\\t"}}{{json (index .Config.Labels "${LABEL}.${name}")}}`
export const CONTAINER = `{{.Id}}{{"\\t"}}{{.Image}}{{"\\t"}}{{.State.Status}}{{"\\t"}}{{json .Config.Image}}${[
  'project',
  'service',
  'project.working_dir',
  'project.config_files',
  'project.environment_file',
  'depends_on',
  'oneoff',
]
  .map(label)
  .join('')}`
/** The labels of an image that its containers would get where Compose sets none. */
const ofImage = ['config_files', 'environment_file'].map(
  (name) => `{{json (index .Labels "${LABEL}.project.${name}")}}`,
)
export const IMAGE = `{{json .RepoDigests}}|{{with .Config}}${ofImage.join('|')}{{end}}`

/** Lines of `docker inspect` as lines with `|`, and a problem for each container with labels that cannot be read. */
export const READ_CONTAINERS = `
  function text(field) {
    if (field == "null") return ""
    if (field ~ /^"[^"\\\\|]*"$/) return substr(field, 2, length(field) - 2)
    isBad = 1
    return ""
  }
  {
    isBad = NF != 11 || $2 !~ /^sha256:[0-9a-f]+$/ || length($2) != 71
    for (at = 4; at <= NF; at++) value[at] = text($at)
    if (value[11] == "True") next
    if (value[5] !~ /^[a-z0-9][a-z0-9_-]*$/ || length(value[5]) > 200 || value[6] !~ /^[A-Za-z0-9._-]+$/ || isBad) {
      print "problem|-|the labels of the container " substr($1, 1, 12) " cannot be read"
      next
    }
    print value[5], value[6], $2, ($3 ~ /^(running|restarting|paused)$/ ? "up" : "down"), value[4], value[7], value[8], value[9], value[10] >"containers"
  }`

/** The services of a configuration as Compose prints it, with two spaces for each level: service, image, built or not. */
export const READ_CONFIG = `
  /^[^ ]/ { inside = $0 == "services:"; next }
  !inside { next }
  /^  [^ ]/ {
    name = $0
    gsub(/[ ":\\047]/, "", name)
    names[++count] = name
    isEnvironment = 0
    next
  }
  /^    [^ -]/ {
    isEnvironment = $1 == "environment:"
    if ($1 == "build:") built[name] = 1
    if ($1 == "image:" && NF == 2) { image[name] = $2; gsub(/["\\047]/, "", image[name]) }
    next
  }
  isEnvironment && /^      [^ -].*: null$/ { open = open " " $1 }
  END {
    for (at = 1; at <= count; at++) print project, names[at], image[names[at]] == "" ? project "-" names[at] : image[names[at]], built[names[at]] + 0 >"services.new"
    if (open != "") { gsub(/[":\\047]/, "", open); print "these variables come from the shell that started it:" open }
  }`

/** Joins what was asked into the lines of projects and services. */
export const JOIN = `
  FILENAME == "images" { digests[$1] = $2; next }
  FILENAME == "locals" { here[$1] = $2; next }
  FILENAME == "asked" { digest[$1] = $2; why[$1] = $3; next }
  FILENAME == "projects" { files[$1] = $2; config[$1] = $3; next }
  FILENAME == "services" { reference[$1, $2] = $3; built[$1, $2] = $4; next }
  FILENAME == "containers" {
    key = $1 SUBSEP $2
    if (!(key in containers)) keys[++count] = key
    containers[key]++
    images[key] = images[key] " " $3
    if ($4 != "up") next
    up[key] = 1
    needs = split($9, need, ",")
    for (at = 1; at <= needs; at++)
      if (split(need[at], part, ":") > 1 && part[2] == "service_completed_successfully") once[$1, part[1]] = 1
  }
  function tell(project, message) { print "problem", project, message }
  function isSha(text) { return text ~ /^sha256:[0-9a-f]+$/ && length(text) == 71 }
  END {
    for (at = 1; at <= count; at++) {
      key = keys[at]
      split(key, part, SUBSEP)
      project = part[1]
      if (!(key in up) && !(key in once)) continue
      if (!(key in reference)) { tell(project, "the service " part[2] " is not in its files any more"); continue }
      ref = reference[key]
      if (ref !~ /^[A-Za-z0-9][A-Za-z0-9._:\\/@-]*$/ || length(ref) > 300) {
        config[project] = "-"
        tell(project, "the image of " part[2] " has no usual name")
        continue
      }
      n = split(images[key], image, " ")
      from = image[1]
      local = ref in here && isSha(here[ref]) ? here[ref] : "-"
      if (ref ~ /@/) { target = ref; sub(/^.*@/, "", target) } else target = digest[ref]
      if (built[key]) { action = "local"; target = local }
      else if (isSha(target)) {
        action = "keep"
        for (i = 1; i <= n; i++)
          if (image[i] != target && !index(digests[image[i]], "@" target "\\"")) { action = "pull"; from = image[i] }
      } else {
        action = "unknown"
        target = local
        tell(project, ref ": " (why[ref] == "" ? "the registry was not asked" : why[ref]))
      }
      if (action == "local" || action == "unknown") {
        for (i = 1; i <= n; i++) if (image[i] != target) from = image[i]
        if (target == "-" && config[project] != "-") { config[project] = "-"; tell(project, "the image " ref " is not there any more") }
      }
      # An image may have digests in other repositories too, as those of a mirror.
      repository = ref
      sub(/@.*/, "", repository)
      sub(/:[^:\\/]*$/, "", repository)
      was = digests[from]
      own = index(was, "\\"" repository "@")
      if (own) was = substr(was, own)
      if (!sub(/^[^@]*@/, "", was)) was = "-"
      sub(/".*/, "", was)
      if (!isSha(was)) was = "-"
      print "service", project, part[2], ref, from, (action == "keep" ? target : was), action, target, containers[key], (key in up ? "up" : "once")
    }
    for (project in files) print "project", project, files[project], config[project]
  }`
