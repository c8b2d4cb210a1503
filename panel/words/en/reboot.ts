import type { reboot as fr } from '../fr/reboot.ts'

const some = (count: number, one: string, more: string) => (count === 1 ? `1 ${one}` : `${count} ${more}`)

export const reboot: typeof fr = {
  verb: 'Reboot the host',
  follow: 'Follow',
  seeJob: 'Show the job',
  required: 'Reboot required',
  reasons: (reasons: string) => `Reboot required: ${reasons}`,
  unnamed: 'upgrades ask for it',
  title: (host: string) => `Reboot ${host}?`,
  interrupts: (count: number, names: string) =>
    count === 0
      ? 'No container is running.'
      : `${some(count, 'running container goes', 'running containers go')} down with the host: ${names}.`,
  interruptsAll: 'All running containers go down with the host.',
  onboot: 'Those that start with the host come back. The page of the reboot names the others.',
  self: 'This panel goes down too: this page waits, and comes back by itself.',
  alone: 'No other job begins before the end.',
  steps: 'Steps of the reboot',
  stops: { asked: 'Requested', away: 'Leaving', back: 'Back', containers: 'Containers' },
  states: {
    done: 'done',
    now: 'under way',
    fail: 'failed',
    warn: 'incomplete',
    ahead: 'to come',
    off: 'not reached',
  },
  notes: {
    queued: 'after the checks',
    answers: 'the host still answers',
    silent: 'the host does not answer',
    back: 'reboot confirmed',
    starting: 'starting',
    all: 'all running',
    missing: (count: number) => `${count} missing`,
  },
  told: {
    queued: 'The host reboots as soon as the running checks have ended.',
    answers: 'The host stops its containers, then reboots. It has 15 minutes to come back.',
    silent: 'The host is rebooting; this page comes back by itself. The host has 15 minutes to come back.',
    containers: 'The host has rebooted. Its containers have 5 minutes to start.',
  },
  since: (time: string) => `for ${time}`,
  done: 'Rebooted',
  warned: 'Rebooted, with warnings',
  notBack: (count: number) =>
    count === 1 ? 'One container has not come back' : `${count} containers have not come back`,
  runsAgain: 'Running',
  toContainers: 'Show the containers',
  underWay: 'A reboot of the host has been started; this page comes back by itself.',
  away: {
    reboot: 'The host is rebooting; this page comes back by itself. Nothing is lost.',
    late: 'The host has been rebooting for more than 15 minutes, and this panel does not answer. Look at the console of the host.',
    upgrade: (of: string) =>
      `The upgrade ${of} cuts off the panel for a moment. It goes on, and this page comes back by itself.`,
    rollback: (of: string) =>
      `The rollback ${of} cuts off the panel for a moment. It goes on, and this page comes back by itself.`,
    restart: (of: string) =>
      `The restart of services ${of} cuts off the panel for a moment. This page comes back by itself.`,
  },
  failed: 'The reboot of the host did not succeed.',
  gone: (names: string) => `Not back after the reboot of the host: ${names}.`,
}
