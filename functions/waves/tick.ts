import type { HostLook } from '../restarts/reboot-end.ts'
import type { Services } from '../services.ts'
import type { Background } from './background.ts'
import type { HeldRun, Jobs } from './held-run.ts'
import type { Prepared } from './wave-plans.ts'

/** A look at the host before its reboot, by which it is rebooted once. */
export interface Looked {
  kind: 'looked'
  look: HostLook
}

/** The results of work in the background. */
export type Found = Prepared | Looked

/** A tick of one run. */
export interface Tick {
  services: Services
  run: HeldRun
  jobs: Jobs
  background: Background<Found>
}
