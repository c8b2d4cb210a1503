import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Notifies systemd (`Type=notify`) about the state of the service. Does nothing when systemd did not start it. */
export interface ServiceManager {
  /** Reports that the service serves. */
  ready(): Promise<void>
  /** Reports that the service is stopping. */
  stopping(): Promise<void>
}

/** systemd-notify takes milliseconds, or seconds while a machine boots. */
const TELL_MS = 20_000

/**
 * Runs `systemd-notify`, because Node cannot send to a datagram socket in the file system. A failure is only passed to
 * `complain`; systemd then decides.
 */
export function serviceManager(
  environment: Record<string, string | undefined>,
  complain: (message: string) => void,
): ServiceManager {
  const notify = async (...assignments: string[]) => {
    if (!environment.NOTIFY_SOCKET) return
    try {
      await promisify(execFile)('systemd-notify', assignments, { env: environment, timeout: TELL_MS })
    } catch (error) {
      const message = error instanceof Error ? error.message.trim() : String(error)
      complain(`systemd n’a pas pu être prévenu : ${message}`)
    }
  }
  return {
    ready: () => notify('READY=1', 'STATUS=En service.'),
    stopping: () => notify('STOPPING=1', 'STATUS=Arrêt demandé.'),
  }
}
