import * as z from 'zod'
import { EVERY_QUEUE, noteWarnings } from '../../db/jobs.ts'
import { defineJob } from '../../jobs/jobs.ts'
import { script } from '../../ssh/ssh.ts'
import { elevationOf } from '../elevation/installed-helper.ts'
import { BootId } from '../hypervisor/host-figures.ts'
import { fail } from '../services.ts'
import { sudoFor } from '../updates/apt.ts'
import { UPDATE_EVENT } from '../updates/upgrade.ts'
import { NOT_ASKED, readRebootNotes, REFUSED_MS, rebootEnd, rebootPassed } from './reboot-end.ts'
import { REBOOT, REBOOT_SECONDS } from './reboot-script.ts'

/** The host by its name and its boot. The reboot begins until `until`, in seconds since 1970 by its clock, or not at all. */
const Args = z.object({ name: z.string(), boot: BootId, until: z.int() })

const Found = z.object({ warnings: z.array(z.string()) })

/**
 * The job that reboots the host. It runs alone: checks that run are waited for, and every other job waits for its end. Its
 * own end is found out by the service, because nothing on the host outlives the reboot.
 */
export const rebootJob = defineJob({
  kind: 'reboot',
  event: UPDATE_EVENT,
  args: Args,
  queue: () => EVERY_QUEUE,
  absence: {
    // While it starts, the host lets nobody but root in, in the words of a wrong password.
    patience: { away: REBOOT_SECONDS * 1_000, refused: REFUSED_MS },
    failure: () => fail('host_not_back'),
  },

  async command({ name, boot, until }, host) {
    const sudo = sudoFor(await elevationOf(host))
    return { command: script(REBOOT, 'ops-panel-reboot', sudo, name, boot, String(until)), notes: true }
  },

  async leftovers({ boot }, host, { ending, notes, signal }) {
    if (ending === 'lost') return undefined
    // A host that does not answer any more tells no notes.
    if (notes.length === 0) return ['Le redémarrage a peut-être été demandé à l’hôte.']
    const { asked } = readRebootNotes(notes)
    if (asked === undefined) return [NOT_ASKED]
    // The jobs that wait for this one must not begin on a host that goes down.
    await rebootPassed({ before: boot, asked }, host, signal)
    return ['Le redémarrage était déjà demandé à l’hôte : il a lieu quand même.']
  },

  conclude: ({ boot }, host, of) => rebootEnd(boot, host, of),

  async result(_, { row, found, cancelled }) {
    const { data } = Found.safeParse(found)
    return !data || cancelled || data.warnings.length === 0 ? [] : [noteWarnings(row, data.warnings)]
  },
})
