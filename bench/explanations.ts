/** The subject of a row in one sentence, and the measured limit. */
export interface Explanation {
  means: string
  limit: string
}

const LOGIN_LIMIT =
  'sshd and PAM: in the project’s runs they take 47 to 95 ms of a sign-in to check the password, 15 to 22 ms for the handshake and 16 ms to open the session; ssh2 alone takes 0.4 of `ssh true`.'
const ADMINISTRATOR_LIMIT = `${LOGIN_LIMIT} One more command on the same connection confirms an administrator.`
const MEMORY_LIMIT =
  'V8’s heap grows before it is collected. The decrypted packets lie outside the heap; the service frees those of a job as soon as they are stored.'
const STALL_LIMIT =
  'neither V8’s collections nor the database, whose longest calls stand beside the figure. The row without a follower stalls for a fifth of this time, so most of a stall is the frames for the follower, which needs one of the two cores at the same time. The share of waiting for a core was not measured.'
const CAT_LIMIT = 'decryption, compression and storage share one thread; `cat` only decrypts, in native code.'
const SERVER_LIMIT = 'the round trip over HTTP to the libSQL server, which makes one change after the other.'
const PLAN_LIMIT = 'apt’s simulation, which both run. The records and sizes of the packages take the rest.'
const SELECTION_LIMIT =
  'the lists of what can be upgraded, and the simulation of the plan; where packages are chosen, a simulation before it tells which of them need others.'
const UNMET_LIMIT =
  'as above, and one simulation of what waits for other packages; apt refuses all of these together if one cannot be installed.'
const SHEET_LIMIT =
  'the parsing of the answer, the comparison of each package with the one on the screen, and the drawing of the rows that differ.'

export const EXPLANATIONS = {
  'a page of 10000 notices / of 50': {
    means:
      'Requests a second of the 50 newest notices with their deliveries; the anchor is a service that has no others.',
    limit: 'the composition of 50 titles and texts from their events, which both do.',
  },
  'the checks beside 10000 notices and 200 schedules / beside none': {
    means: 'Requests a second of the list of checks; the anchor is a service without notices and schedules.',
    limit: 'the answer, which is kept until a check changes.',
  },
  'a page of 200 schedules with 200 runs each / of none': {
    means: 'Requests a second of the first 20 schedules; the anchor is a service without schedules.',
    limit: 'the length of the answer, which is kept until a schedule or a run changes, or a minute ends.',
  },
  'that page after a change of 200 schedules / of none': {
    means:
      'The time of one request after a change, for which no answer is kept; it comes to each open page once after each change. The anchor reads nothing.',
    limit:
      'the order of all schedules by their newest runs, then the reading and encoding of 20 schedules with 14 runs each.',
  },
  'all 200 schedules with 200 runs each / with 14': {
    means:
      'Requests a second of the whole list; the anchor has the same schedules, each with as many runs as the list shows.',
    limit: 'the length of the answer, which both have.',
  },
  'all 200 schedules with 200 runs each / none': {
    means: 'Requests a second of the whole list, some 500 KB; the anchor is an empty list.',
    limit: 'the length of the answer.',
  },
  'the runs of one of 200 schedules, of 200 / of 14': {
    means: 'Requests a second of the 14 newest runs of a schedule; the anchor has no others.',
    limit: 'the reading of 14 runs, which both do.',
  },
  'the page of 200 schedules in a browser / of none': {
    means:
      'The time from the address until a signed-in browser shows 20 schedules with 14 runs each; the anchor shows that there are none.',
    limit: 'the start of the panel, which both do, and the drawing of 20 cards.',
  },
  'a tick with 10000 notices and 200 schedules / with none': {
    means:
      'The periodic work of schedules and notifications while nothing is due, on the database of each service, in a process of its own.',
    limit: 'four queries, each of an index that has only the rows that are due.',
  },
  'dashboard painted − bare page': {
    means:
      'In Chromium, a signed-in user opens the dashboard until its containers are painted; the anchor paints a bare page.',
    limit: 'three answers one after another: the renewed token, the user, the containers.',
  },
  'dashboard of 40 targets / of 4': {
    means: 'The same with ten times as many targets.',
    limit: 'the container tool, which lists them all, and the rows of the table.',
  },
  'login / ssh true': {
    means: 'A user signs in over the API; the anchor is OpenSSH’s client, which signs in and runs `true`.',
    limit: LOGIN_LIMIT,
  },
  'login / bare ssh2 with id': {
    means: 'The same; the anchor is a program of ssh2 alone, which signs in and runs `id`.',
    limit: LOGIN_LIMIT,
  },
  'an administrator’s login / ssh true': {
    means: 'An administrator signs in over the API; the anchor is OpenSSH’s client, which signs in and runs `true`.',
    limit: ADMINISTRATOR_LIMIT,
  },
  'an administrator’s login / bare ssh2 with id': {
    means: 'The same; the anchor is a program of ssh2 alone, which signs in and runs `id`.',
    limit: ADMINISTRATOR_LIMIT,
  },
  'GET without a query / bare node:http': {
    means:
      'Requests a second of a GET that checks the token, the limits and the answer’s schema; the anchor only sends the answer.',
    limit: 'writing to the socket, which both do, is the largest part, and reading the request the next one.',
  },
  'GET with one query / bare node:http': {
    means: 'The same with one row from the database for each request.',
    limit:
      'in a profile, 39 % of the busy time is the write to the socket, which both do, 17 % is libSQL’s binding, which takes 7 to 10 µs for a row in any case, and 6 % is the parsing of the row.',
  },
  '50 MiB job / ssh cat': {
    means:
      'A job’s output reaches the database and one subscriber; the anchor prints the same file with `ssh host cat`.',
    limit: CAT_LIMIT,
  },
  '50 MiB job: the largest growth of memory': {
    means: 'The additional memory of the service at its worst moment, compared with the time before the job.',
    limit: MEMORY_LIMIT,
  },
  '50 MiB job: the longest stall, less that of an idle loop': {
    means: 'The longest time in which the service answers nobody, minus that of an idle process.',
    limit: STALL_LIMIT,
  },
  '1000 MiB job / ssh cat': {
    means: 'The same for a gigabyte of output without a subscriber.',
    limit: CAT_LIMIT,
  },
  '1000 MiB job: the largest growth of memory': {
    means: 'The additional memory of the service at its worst moment, compared with the time before the job.',
    limit: MEMORY_LIMIT,
  },
  '1000 MiB job: the longest stall, less that of an idle loop': {
    means: 'The longest time in which the service answers nobody, minus that of an idle process.',
    limit: STALL_LIMIT,
  },
  'a line / ssh2 round trip': {
    means:
      'The time from writing a line on the host to its arrival at a subscriber; the anchor sends a line there and back with ssh2.',
    limit: 'tail on the host, the network, one write to the database and the WebSocket, one after the other.',
  },
  'a line on an overlay file system / ssh2 round trip': {
    means: 'The same where the file system of the job’s folder sends no notifications, as in some containers.',
    limit: 'tail polls every 10 ms there.',
  },
  'lines to 100 subscribers / a TCP write each': {
    means:
      'Lines that arrive in a second at all subscribers of a job; the anchor is a bare server that writes each line to each connection.',
    limit: 'lines are sent together, so the number of bytes limits it, and not the number of lines.',
  },
  'lines to 1000 subscribers / a TCP write each': {
    means: 'The same with ten times as many.',
    limit: 'lines are sent together, so the number of bytes limits it, and not the number of lines.',
  },
  '50 MiB through a terminal / ssh -tt': {
    means: 'A command prints in a terminal of the panel; the anchor prints the same with `ssh -tt`.',
    limit: 'the terminal of the host, which both use.',
  },
  '50 MiB through a terminal: the largest growth of memory': {
    means: 'The additional memory of the service at its worst moment.',
    limit: MEMORY_LIMIT,
  },
  'start of the executable / bare Node': {
    means:
      'The time from the start of the program to its first answer; the anchor is Node’s own server, which has nothing to load.',
    limit:
      'the code of some 130 endpoints with the schemas of what they take and give takes 50 to 60 ms, Node’s own `fetch`, whose classes make every answer and which Node compiles at each start, 12 to 28, V8’s loading of 2.6 MB of cached code 17, the one collection that the schemas make necessary 10 to 14, and libSQL’s addon 10.',
  },
  'start of the one file / bare Node': {
    means: 'The same for the bundle, which Node compiles at each start.',
    limit: 'reading and compiling some 7 MB, including the libSQL addon, which is unpacked each time.',
  },
  'private memory of the executable / bare Node': {
    means:
      'The private memory of an idle service that has answered; the anchor is bare Node that has answered as often.',
    limit: 'the service’s code and schemas on V8’s heap.',
  },
  'resident memory of the executable / bare Node': {
    means: 'The same with the memory that it shares with other processes and with the file on the disk.',
    limit: 'the pages of the executable that were read, and the code cache of V8.',
  },
  'private memory of the one file / bare Node': {
    means:
      'The private memory of an idle service that runs from the bundle; the anchor is bare Node that has answered as often.',
    limit: 'the text of the bundle, which Node keeps, and the unpacked addon.',
  },
  'resident memory of the one file / bare Node': {
    means: 'The same with the memory that it shares with other processes.',
    limit: 'as above.',
  },
  'a check of 20 containers / of one': {
    means:
      'A check of all targets of a host with 20 containers, where each command in a container takes 300 ms; the anchor is a check of one of them.',
    limit: 'six containers at a time, as the setting is by default: four rounds.',
  },
  'the checks of 200 containers / bare node:http': {
    means: 'Requests a second of the list of stored checks; the anchor only sends the answer.',
    limit:
      'the socket, to which both write 160 kB; the service keeps the last answer and only asks whether it is still true.',
  },
  'a check of 100000 packages: the longest delay of an answer, less that of an idle loop': {
    means:
      'The longest delay of `GET /api/health` while a check of all is read and stored, minus that of an idle process. One target prints 100,000 packages, which is refused, and one almost 10,000, each 4 MiB.',
    limit:
      'the packages of one target, whose details, JSON and storage follow one another without a turn of the event loop in between.',
  },
  'a plan of 1500 packages / lines and words': {
    means:
      'From the output of a simulation to the hash of a plan; the anchor splits the same text into lines and words, and makes its SHA-256.',
    limit: 'one pattern for each line, the comparison of its two versions, and the sorted lines of the hash.',
  },
  'a plan of 1500 packages, on the host / apt-get -s full-upgrade': {
    means:
      'The program of a plan runs on a real host where 1,500 packages have a newer version, over a connection that is there; the anchor is apt’s own simulation of all of them over the same connection. Repositories are as large as Debian’s.',
    limit: PLAN_LIMIT,
  },
  'a plan of 1500 packages / apt-get -s full-upgrade': {
    means: 'The same from the request to the API until its whole answer.',
    limit: PLAN_LIMIT,
  },
  'a plan of their security updates, on the host / apt-get -s full-upgrade': {
    means: 'The program of a plan of the security updates, which are a third of the packages.',
    limit: SELECTION_LIMIT,
  },
  'a plan of their security updates / apt-get -s full-upgrade': {
    means: 'The same from the request to the API until its whole answer.',
    limit: SELECTION_LIMIT,
  },
  'a plan of one of them, on the host / apt-get -s full-upgrade': {
    means: 'The program of a plan of one package, with what it needs.',
    limit: SELECTION_LIMIT,
  },
  'a plan of one of them / apt-get -s full-upgrade': {
    means: 'The same from the request to the API until its whole answer.',
    limit: SELECTION_LIMIT,
  },
  'a plan of all but one, on the host / apt-get -s full-upgrade': {
    means: 'The program of a plan that leaves one package out.',
    limit: SELECTION_LIMIT,
  },
  'a plan of all but one / apt-get -s full-upgrade': {
    means: 'The same from the request to the API until its whole answer.',
    limit: SELECTION_LIMIT,
  },
  'a plan of all but one, with removals / apt-get -s full-upgrade': {
    means: 'The same where the plan may remove packages, but not the one that is left out.',
    limit: 'a second simulation, where the first one tells what would be removed.',
  },
  'a plan of security updates, one of which cannot be installed / apt-get -s full-upgrade': {
    means: 'A plan of the security updates over the API, where one more needs a package that does not exist.',
    limit: UNMET_LIMIT,
  },
  'a plan of 1500 packages on the screen, as foreseen / bare lines': {
    means:
      'In Chromium, from the last byte of a plan until its hash is painted, with all packages of the last check on the screen; the anchor paints as many bare lines of four words. On an idle machine 1.5 is 100 ms.',
    limit: SHEET_LIMIT,
  },
  'a plan of 1500 packages on the screen, with nothing before / bare lines': {
    means: 'The same where no package was on the screen before: until the first 40 rows are painted.',
    limit: SHEET_LIMIT,
  },
  'the last of these packages on the screen / bare lines': {
    means: 'The same until the last row is there.',
    limit: 'each frame adds 120 rows, so that the page answers in between.',
  },
  'a look at 60 units and 30 ports / pct exec true': {
    means:
      'One look at a container before or after a protected upgrade, over a connection that is there; the anchor is an empty command in the same container. systemctl and the hypervisor’s tool are those of the test host.',
    limit: '',
  },
  'a look at 60 units and 30 ports, with a second for pct': {
    means: 'The same where the tool takes a second before it begins, as the hypervisor’s own tool does.',
    limit: 'that second, and two questions to systemd.',
  },
  'an unprotected upgrade / a plain job': {
    means:
      'An upgrade of a container without protection, from the request until its last event; the anchor is a job that runs the same command and does nothing else.',
    limit: 'apt, which both run.',
  },
  'a look at 200 processes without replaced files': {
    means:
      'The part of a check that looks for programs whose files an upgrade has replaced, in a container with 200 processes, over a connection that is there.',
    limit: 'the kernel, which writes the maps of all processes.',
  },
  'a look at 200 processes with replaced files': {
    means: 'The same where all of them use a replaced library, 61 of them as services.',
    limit: 'two questions to systemd, and one to dpkg.',
  },
  'memory at rest': { means: 'The resident memory of the bundle with a host in its settings.', limit: '' },
  'database: a job of 3000 bytes': { means: 'The growth of the database for a small upgrade.', limit: '' },
  'database: 1 MiB of output': {
    means: 'The growth of the database for a mebibyte of apt’s lines, compressed.',
    limit: '',
  },
  'memory after them': { means: 'The resident memory after 200 small jobs and one of 20 MiB.', limit: '' },
  'memory of a follower': { means: 'The memory for one of 1,000 subscribers of a job.', limit: '' },
  'libSQL server: reads, one at a time': {
    means: 'Statements a second at a libSQL server on the same machine.',
    limit: SERVER_LIMIT,
  },
  'libSQL server: reads, 8 at a time': { means: 'The same, eight at once.', limit: SERVER_LIMIT },
  'libSQL server: writes': { means: 'Changes a second at that server.', limit: SERVER_LIMIT },
} satisfies Record<string, Explanation>

export type RowName = keyof typeof EXPLANATIONS
