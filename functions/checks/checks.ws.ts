import * as z from 'zod'
import { type Frame, frame } from '../../platform/hub.ts'
import { envelope, textFrame } from '../../runtime/socket.ts'
import { defineSocket } from '../services.ts'
import { CHECKS_TOPIC, checksChanged } from './changes.ts'

export default defineSocket({
  path: '/ws/checks',
  summary: 'Changes of checks, live',
  description:
    'Sends one frame at the opening, and another one whenever a stored check or the set of running jobs has changed, at any instance of the service. A client then reads `GET /api/updates/checks` again. Changes within a second come as one frame.',
  auth: 'user',
  targets: 'none',
  rateLimit: { limit: 300, seconds: 60, by: 'user' },
  sends: {
    checks_changed: textFrame(
      'Checks or running jobs may have changed; `seq` is the revision of all of them.',
      envelope('checks_changed', CHECKS_TOPIC, z.object({})),
      { type: 'checks_changed', topic: CHECKS_TOPIC, seq: 17, data: {} },
    ),
  },
  closes: {},

  async open(_, { checkChanges, socket }) {
    let sent: number | undefined
    let next: Frame | undefined
    let sending = false
    /** A client that reads slowly gets the newest frame alone. */
    const send = async (given: Frame) => {
      next = given
      if (sending) return
      sending = true
      try {
        for (let now: Frame | undefined = given; now; now = next) {
          next = undefined
          if (now.seq === sent) continue
          sent = now.seq
          await socket.send(now)
        }
      } finally {
        sending = false
      }
    }
    // The subscription comes before the first read, so that no change between the two is missed.
    const leave = checkChanges.subscribe({
      deliver: (given) => void send(given).catch(socket.fail),
      finish: () => socket.close('done'),
      fail: socket.fail,
    })
    socket.closed.addEventListener('abort', leave)
    const revision = await checkChanges.revision()
    if (sent === undefined) await send(frame(CHECKS_TOPIC, checksChanged(revision)))
  },
})
