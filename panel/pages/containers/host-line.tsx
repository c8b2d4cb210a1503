import { bytes, duration } from '../../nouns/format.ts'
import { RebootButton, RebootProblem, reasonsSaid, useReboot } from '../../parts/reboot/ask.tsx'
import { Status } from '../../parts/status.tsx'
import { rebooting } from '../../wire/absence.ts'
import { host, readHost } from '../../wire/host.ts'
import { useLoad } from '../../wire/load.ts'
import { language, words } from '../../words/words.ts'

/** Each read runs a command on the host. */
const EVERY_MS = 15_000

/** One line with the figures of the host. The container list reports a host that does not answer. */
export function HostLine() {
  const { containers: say, reboot, shell } = words()
  const restart = useReboot()
  const found = useLoad(readHost, [], { everyMs: EVERY_MS }).data.value ?? host.value
  const amount = (count: number) => bytes(count, shell.units.bytes, language())
  const number = new Intl.NumberFormat(language(), { maximumFractionDigits: 2 })
  const { load, memory, disk, uptime, kernel } = say.hostFacts
  const facts = found && [
    load(found.load.map((each) => number.format(each)).join(' · ')),
    memory(amount(found.mem), amount(found.maxmem)),
    disk(amount(found.disk), amount(found.maxdisk)),
    uptime(duration(found.uptime, shell.units)),
    kernel(found.kernel),
  ]
  return (
    <>
      <div class="host-bar">
        <ul class="host-line dim num" aria-label={say.host}>
          {facts?.map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
        {found && !rebooting.value && <RebootButton by={restart} />}
      </div>
      {found?.reboot_required && !rebooting.value && (
        <p class="host-reboot small">
          <Status is="warn" hidden />
          <span>{reboot.reasons(reasonsSaid(found.reboot_reasons))}</span>
        </p>
      )}
      <RebootProblem error={restart.error.value} />
    </>
  )
}
