import { bytes, duration } from '../../nouns/format.ts'
import { readHost } from '../../wire/host.ts'
import { useLoad } from '../../wire/load.ts'
import { language, words } from '../../words/words.ts'

/** Each read runs a command on the host. */
const EVERY_MS = 15_000

/** One line with the figures of the host. The container list reports a host that does not answer. */
export function HostLine() {
  const { containers: say, shell } = words()
  const found = useLoad(readHost, [], { everyMs: EVERY_MS }).data.value
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
    <ul class="host-line dim num" aria-label={say.host}>
      {facts?.map((fact) => (
        <li key={fact}>{fact}</li>
      ))}
    </ul>
  )
}
