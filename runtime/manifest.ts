import type { AnyFunction } from './function.ts'
import type { AnyJobKind } from './job-kind.ts'
import type { AnySocket } from './socket.ts'
import type { Task } from './task.ts'

/** What an entry serves; the service's own unless something else is to be measured or tried. */
export interface Manifest {
  functions: readonly AnyFunction[]
  sockets: readonly AnySocket[]
  jobKinds: readonly AnyJobKind[]
  tasks: readonly Task[]
  /** What each group of functions is for, in the documents. */
  areas?: Readonly<Record<string, string>>
}
