import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Who started the service and wants to know how it does: systemd, with `Type=notify`. Nobody, elsewhere. */
export interface ServiceManager {
  /** It serves. */
  ready(): Promise<void>
  /** It has been asked to stop. */
  stopping(): Promise<void>
}

/** It answers in milliseconds; on a machine that starts everything at once it may take seconds. */
const TELL_MS = 20_000

/**
 * Node cannot send to a datagram socket in the file system: systemd's own program does. What cannot be told is complained
 * about and nothing more; systemd then decides.
 */
export function serviceManager(
  environment: Record<string, string | undefined>,
  complain: (message: string) => void,
): ServiceManager {
  const tell = async (...assignments: string[]) => {
    if (!environment.NOTIFY_SOCKET) return
    try {
      await promisify(execFile)('systemd-notify', assignments, { env: environment, timeout: TELL_MS })
    } catch (error) {
      const message = error instanceof Error ? error.message.trim() : String(error)
      complain(`systemd n’a pas pu être prévenu : ${message}`)
    }
  }
  return {
    ready: () => tell('READY=1', 'STATUS=En service.'),
    stopping: () => tell('STOPPING=1', 'STATUS=Arrêt demandé.'),
  }
}
