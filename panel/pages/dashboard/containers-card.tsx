import { bytes, duration, percent } from '../../nouns/format.ts'
import { ContainerShown, ContainerStatus } from '../../parts/container-status.tsx'
import { Aged, Placeholder } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Spark } from '../../parts/spark.tsx'
import {
  type Container,
  containers,
  containersAt,
  containersError,
  readContainers,
  samples,
} from '../../wire/containers.ts'
import { isAdmin } from '../../wire/panel.ts'
import { language, words } from '../../words/words.ts'

/** The containers, with graphs of CPU and memory since the panel was opened. */
export function ContainersCard() {
  const say = words().dashboard
  const found = containers.value
  const hasFigures = found?.some(({ cpu, mem }) => cpu !== null || mem !== null) ?? true
  return (
    <>
      <Problem error={containersError.value} retry={readContainers} />
      {found && containersError.value !== undefined && containersAt.value !== undefined && (
        <Aged at={containersAt.value} />
      )}
      {!found && containersError.value === undefined && <Placeholder rows={4} />}
      {found?.length === 0 && <p class="empty">{say.noContainers}</p>}
      {found && found.length > 0 && (
        <div class="scroll">
          <table aria-label={say.containers}>
            <thead>
              <tr>
                <th scope="col">{say.name}</th>
                {hasFigures && (
                  <>
                    <th scope="col" class="cpu">
                      {say.cpu}
                    </th>
                    <th scope="col" class="memory">
                      {say.memory}
                    </th>
                    <th scope="col" class="end uptime">
                      {say.uptime}
                    </th>
                  </>
                )}
                {!hasFigures && (
                  <th scope="col" class="state">
                    {say.state}
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {found.map((each) => (
                <Row key={each.vmid} container={each} hasFigures={hasFigures} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {found && found.length > 0 && !hasFigures && (
        <p class="dim aside">
          {say.noFigures} {isAdmin.value && <a href="/settings">{say.giveToken}</a>}
        </p>
      )}
    </>
  )
}

function Row({ container, hasFigures }: { container: Container; hasFigures: boolean }) {
  const { dashboard: say, shell } = words()
  const { vmid, name, cpu, mem, maxmem, uptime } = container
  const seen = samples.value.get(vmid) ?? []
  const amount = (count: number | null) => (count === null ? '—' : bytes(count, shell.units.bytes, language()))
  return (
    <tr>
      <th scope="row">
        <span class="named-row">
          {hasFigures && <ContainerShown of={container} />}
          <span class="cut" title={name}>
            {name}
          </span>{' '}
          <span class="dim num">{vmid}</span>
        </span>
      </th>
      {hasFigures ? (
        <>
          <td class="cpu">
            <span class="figure">
              <Spark values={seen.map((each) => each.cpu)} />
              <span class="num">{cpu === null ? '—' : percent(cpu, language())}</span>
            </span>
          </td>
          <td>
            <span class="figure">
              <Spark values={seen.map((each) => each.mem)} />
              <span class="num">{maxmem ? say.of(amount(mem), amount(maxmem)) : amount(mem)}</span>
            </span>
          </td>
          <td class="end nowrap uptime">{uptime ? duration(uptime, shell.units) : '—'}</td>
        </>
      ) : (
        <td>
          <ContainerStatus of={container} />
        </td>
      )}
    </tr>
  )
}
