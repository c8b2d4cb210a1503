import { useId } from 'preact/hooks'
import { bytes, duration, percent } from '../../nouns/format.ts'
import { Aged, Placeholder } from '../../parts/loaded.tsx'
import { RebootButton, RebootProblem, reasonsSaid, useReboot } from '../../parts/reboot/ask.tsx'
import { Status } from '../../parts/status.tsx'
import { rebooting } from '../../wire/absence.ts'
import { host, hostAt, hostError } from '../../wire/host.ts'
import { isAdmin } from '../../wire/panel.ts'
import { language, words } from '../../words/words.ts'

/** The figures of the host. */
export function HostCard() {
  const { dashboard: say, reboot, shell } = words()
  const id = useId()
  const known = host.value
  const restart = useReboot()
  if (!known)
    return hostError.value === undefined ? (
      <Placeholder rows={5} />
    ) : (
      <p class="empty">{rebooting.value ? reboot.underWay : say.unreachable}</p>
    )
  const amount = (count: number) => bytes(count, shell.units.bytes, language())
  const number = (value: number) => new Intl.NumberFormat(language(), { maximumFractionDigits: 2 }).format(value)
  const share = (name: string, key: string, used: number, all: number) => (
    <>
      <dt id={`${id}-${key}`}>{name}</dt>
      <dd>
        <span class="num">{say.of(amount(used), amount(all))}</span>
        <meter
          aria-labelledby={`${id}-${key}`}
          min={0}
          max={1}
          low={0.85}
          high={0.95}
          optimum={0}
          value={all > 0 ? used / all : 0}
        >
          {percent(all > 0 ? used / all : 0, language())}
        </meter>
      </dd>
    </>
  )
  return (
    <>
      {hostError.value !== undefined && hostAt.value !== undefined && <Aged at={hostAt.value} />}
      <dl class="facts">
        {share(say.memory, 'memory', known.mem, known.maxmem)}
        {share(say.disk1, 'disk', known.disk, known.maxdisk)}
        <dt>{say.load}</dt>
        <dd class="num">
          {known.load.map(number).join(' · ')} <span class="dim">({say.cores(known.cpus)})</span>
        </dd>
        <dt>{say.uptime}</dt>
        <dd class="num">{duration(known.uptime, shell.units)}</dd>
        <dt>{say.system}</dt>
        <dd>{known.os}</dd>
        <dt>{say.kernel}</dt>
        <dd>{known.kernel}</dd>
        {known.reboot_required && (
          <>
            <dt class="whole">
              <Status is="warn" hidden />
              {reboot.required}
            </dt>
            <dd class="whole">{reasonsSaid(known.reboot_reasons)}</dd>
          </>
        )}
      </dl>
      {isAdmin.value && !rebooting.value && (
        <div class="card-deeds">
          <RebootProblem error={restart.error.value} />
          <RebootButton by={restart} />
        </div>
      )}
    </>
  )
}
