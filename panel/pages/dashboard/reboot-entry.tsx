import type { ComponentChildren } from 'preact'
import { RebootButton, RebootProblem, reasonsSaid, useReboot } from '../../parts/reboot/ask.tsx'
import { rebooting } from '../../wire/absence.ts'
import { checks } from '../../wire/checks.ts'
import { host } from '../../wire/host.ts'
import { words } from '../../words/words.ts'

/** That the host has to be rebooted, with its reasons. */
export function RebootSentence(): ComponentChildren {
  const { dashboard: say, reboot } = words()
  const check = checks.value?.find(({ target }) => target === 'host')
  const reasons = host.value?.reboot_required ? host.value.reboot_reasons : (check?.reboot.reasons ?? [])
  return (
    <>
      {rebooting.value ? reboot.underWay : say.reboot}
      {reasons.length > 0 && <small class="reasons dim">{reasonsSaid(reasons)}</small>}
    </>
  )
}

/** The button that reboots the host, for administrators, or the way to the reboot that runs. */
export function RebootDeed() {
  const restart = useReboot()
  return (
    <>
      <RebootButton by={restart} />
      <RebootProblem error={restart.error.value} />
    </>
  )
}
