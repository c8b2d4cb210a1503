/** What a row is about, in one sentence, and what has been seen to limit it. */
export interface Explanation {
  means: string
  limit: string
}

const LOGIN_LIMIT =
  'sshd and PAM: in the project’s runs 47 to 95 ms of a login pass while they look at the password, 15 to 22 ms until the ' +
  'handshake is done and 16 ms to open the session; ssh2 alone takes 0.4 of `ssh true`.'
const ADMINISTRATOR_LIMIT = `${LOGIN_LIMIT} An administrator is confirmed by one command more on the same connection.`
const MEMORY_LIMIT =
  'Node’s heap grows before it is collected: the deciphered packets lie outside it, and V8 does not count them at once.'
const STALL_LIMIT =
  'neither V8’s collections nor the database, whose longest stand beside the figure. The row without a follower stands still for a fifth of it, so most of such a turn is the frames for the follower, who wants one of the two cores at the same time; how much of it is waiting for a core was not told apart.'
const CAT_LIMIT = 'deciphering, compressing and storing share one thread; `cat` only deciphers, in native code.'
const SERVER_LIMIT = 'the round trip over HTTP to the libSQL server, and that it makes one change after the other.'

export const EXPLANATIONS = {
  'dashboard painted − bare page': {
    means:
      'In Chromium, somebody who is signed in opens the dashboard, until its containers are painted, where a bare page is painted.',
    limit: 'three answers one after another: the renewed token, who is signed in, the containers.',
  },
  'dashboard of 40 targets / of 4': {
    means: 'The same with ten times as many targets.',
    limit: 'the container tool, which lists them all, and the rows of the table.',
  },
  'login / ssh true': {
    means: 'A user signs in over the API, where OpenSSH’s client would sign in and run `true`.',
    limit: LOGIN_LIMIT,
  },
  'login / bare ssh2 with id': {
    means: 'The same, where a program of ssh2 alone would sign in and run `id`.',
    limit: LOGIN_LIMIT,
  },
  'an administrator’s login / ssh true': {
    means: 'An administrator signs in over the API, where OpenSSH’s client would sign in and run `true`.',
    limit: ADMINISTRATOR_LIMIT,
  },
  'an administrator’s login / bare ssh2 with id': {
    means: 'The same, where a program of ssh2 alone would sign in and run `id`.',
    limit: ADMINISTRATOR_LIMIT,
  },
  'GET without a query / bare node:http': {
    means:
      'Requests a second of a GET that checks the token, the limits and the answer’s schema, where Node only sends the answer.',
    limit: 'writing to the socket, which both do, is the largest part; then reading the request.',
  },
  'GET with one query / bare node:http': {
    means: 'The same with a row read from the database for each request.',
    limit:
      'in a profile of it 39 % of the busy time is the write to the socket, which both do, 17 % is libSQL’s binding, which ' +
      'takes 7 to 10 µs for a row however it is asked, and 6 % is what turns its answer into a checked row.',
  },
  '50 MiB job / ssh cat': {
    means: 'A job’s output reaches the database and one subscriber, where `ssh host cat` prints the same file.',
    limit: CAT_LIMIT,
  },
  '50 MiB job: the largest growth of memory': {
    means: 'What the service holds more at its worst moment than before the job.',
    limit: MEMORY_LIMIT,
  },
  '50 MiB job: the longest stall, less that of an idle loop': {
    means: 'How long the service answers nobody at worst, less the same of a process that does nothing.',
    limit: STALL_LIMIT,
  },
  '1000 MiB job / ssh cat': {
    means: 'The same for a gigabyte of output that nobody watches.',
    limit: CAT_LIMIT,
  },
  '1000 MiB job: the largest growth of memory': {
    means: 'What the service holds more at its worst moment than before the job.',
    limit: MEMORY_LIMIT,
  },
  '1000 MiB job: the longest stall, less that of an idle loop': {
    means: 'How long the service answers nobody at worst, less the same of a process that does nothing.',
    limit: STALL_LIMIT,
  },
  'a line / ssh2 round trip': {
    means: 'From a line’s writing on the host to its arrival at a subscriber, where ssh2 sends a line there and back.',
    limit: 'tail on the host, the way here, one write to the database and the WebSocket, one after the other.',
  },
  'a line on an overlay file system / ssh2 round trip': {
    means: 'The same where the job’s folder tells of no changes, as in some containers.',
    limit: 'tail looks every 10 ms there.',
  },
  'lines to 100 subscribers / a TCP write each': {
    means:
      'Lines that arrive in a second at all subscribers of a job, where a bare server writes each line to each connection.',
    limit: 'lines are sent together, so the bytes limit it and no longer their number.',
  },
  'lines to 1000 subscribers / a TCP write each': {
    means: 'The same with ten times as many.',
    limit: 'lines are sent together, so the bytes limit it and no longer their number.',
  },
  '50 MiB through a terminal / ssh -tt': {
    means: 'What a command prints in a terminal of the panel, where `ssh -tt` prints the same.',
    limit: 'the terminal of the host, which both have.',
  },
  '50 MiB through a terminal: the largest growth of memory': {
    means: 'What the service holds more at its worst moment than before.',
    limit: MEMORY_LIMIT,
  },
  'start of the executable / bare Node': {
    means: 'From the start of the program to its first answer, where Node’s own server has nothing to load.',
    limit:
      'Node’s own `fetch`, of whose classes every answer is made and which Node compiles at each start, takes 14 to 28 ms ' +
      'by itself; V8 takes some 12 ms to take in the 2 MB of code and what was compiled of it beforehand, libSQL’s addon 10.',
  },
  'start of the one file / bare Node': {
    means: 'The same of the one file, which Node compiles at each start.',
    limit: 'reading and compiling some 7 MB, the libSQL addon among them, which is unpacked each time.',
  },
  'private memory of the executable / bare Node': {
    means: 'What an idle service holds for itself alone once it has answered, where bare Node has answered as often.',
    limit: 'the service’s code and schemas on V8’s heap.',
  },
  'resident memory of the executable / bare Node': {
    means: 'The same with what it shares with other processes and with the file on the disk.',
    limit: 'the executable’s own pages that were read, and the code that V8 has compiled beforehand.',
  },
  'private memory of the one file / bare Node': {
    means: 'What an idle service of the one file holds for itself alone, where bare Node has answered as often.',
    limit: 'the text of the file, which Node keeps, and the addon that was unpacked.',
  },
  'resident memory of the one file / bare Node': {
    means: 'The same with what it shares with other processes.',
    limit: 'as above.',
  },
  'memory at rest': { means: 'The resident memory of the built file with a host in its settings.', limit: '' },
  'database: a job of 3000 bytes': { means: 'What the database grows by for a small upgrade.', limit: '' },
  'database: 1 MiB of output': { means: 'What it grows by for a mebibyte of apt’s lines, compressed.', limit: '' },
  'memory after them': { means: 'The resident memory after 200 small jobs and one of 20 MiB.', limit: '' },
  'memory of a follower': { means: 'What one of 1,000 subscribers of a job costs.', limit: '' },
  'libSQL server: reads, one at a time': { means: 'Statements a second at a libSQL server here.', limit: SERVER_LIMIT },
  'libSQL server: reads, 8 at a time': { means: 'The same, several at once.', limit: SERVER_LIMIT },
  'libSQL server: writes': { means: 'Changes a second there.', limit: SERVER_LIMIT },
} satisfies Record<string, Explanation>

export type RowName = keyof typeof EXPLANATIONS
