import type { Check } from '../../nouns/checked.ts'
import { type Outdated, outdatedIn, restartable, withTarget } from '../../nouns/restarts.ts'
import { BlockableButton } from '../../parts/blockable-button.tsx'
import { RebootButton, RebootProblem, useReboot } from '../../parts/reboot/ask.tsx'
import { containerBlocked, restartBlocked, restartContainer, targetInSentence } from '../../parts/restarts.tsx'
import { Status } from '../../parts/status.tsx'
import { isAdmin } from '../../wire/panel.ts'
import { fromService, words } from '../../words/words.ts'
import type { Deeds } from './deeds.ts'

/** The services of a target that still use replaced files, each with the way to its new code. */
export function OutdatedServices({ check, deeds }: { check: Check; deeds: Deeds }) {
  const { restarts: say } = words()
  const { target, services_unseen: isBlind } = check
  const all = outdatedIn(check)
  const alone = restartable(check)
  const whole = withTarget(check)
  const place = targetInSentence(check)
  const blocked = restartBlocked(check)
  if (all.length === 0)
    return isBlind ? (
      <li>
        <Status is="info" hidden />
        <p class="grow">{say.unseen}</p>
      </li>
    ) : null
  return (
    <li class="outdated">
      <Status is="info" hidden />
      <div class="grow">
        <p>{say.outdated(all.length)}</p>
        {isBlind && <p class="dim">{say.unseen}</p>}
      </div>
      {isAdmin.value && alone.length > 1 && (
        <BlockableButton
          class="small"
          label={say.restartOf(say.services(alone.length), place)}
          blocked={blocked}
          press={() => deeds.restart(check, alone)}
        >
          {say.restartMany(alone.length)}
        </BlockableButton>
      )}
      <ul class="names" aria-label={say.listOf(place)}>
        {all.map((one) => (
          <li key={`${one.restart} ${one.name}`}>
            <span class="pn">{one.restart === 'session' ? say.sessionOf(one.name) : one.name}</span>
            <span class="about">
              <span class="dim" title={one.package === null ? undefined : one.reason}>
                {causeOf(one)}
              </span>
              {one.restart === 'service' && one.interrupts !== null && (
                <span class="warn-text">{say.cuts[one.interrupts]}</span>
              )}
              {one.restart !== 'service' && (
                <span>{one.why === null ? say.ways[one.restart] : fromService(one.why)}</span>
              )}
            </span>
            {isAdmin.value && one.restart === 'service' && (
              <BlockableButton
                class="small"
                label={say.restartOf(one.name, place)}
                blocked={blocked}
                press={() => deeds.restart(check, [one])}
              >
                {say.restart}
              </BlockableButton>
            )}
          </li>
        ))}
        {whole.length > 0 && (
          <li>
            {target === 'host' ? <ByHost count={whole.length} /> : <ByContainer check={check} count={whole.length} />}
          </li>
        )}
      </ul>
    </li>
  )
}

/** The services that restart with the host alone, and the way to its reboot. */
function ByHost({ count }: { count: number }) {
  const restart = useReboot()
  return (
    <>
      <span class="grow">{words().restarts.byHost(count)}</span>
      <RebootButton by={restart} />
      <RebootProblem error={restart.error.value} />
    </>
  )
}

/** The services that restart with their container alone, and its restart. */
function ByContainer({ check, count }: { check: Check; count: number }) {
  const { restarts: say } = words()
  return (
    <>
      <span class="grow">{say.byContainer(count)}</span>
      {isAdmin.value && (
        <BlockableButton
          class="small"
          label={say.restartContainerOf(targetInSentence(check))}
          blocked={containerBlocked(check)}
          press={() => void restartContainer(check)}
        >
          {say.restartContainer}
        </BlockableButton>
      )}
    </>
  )
}

/** Where the former code is from, in plain words. */
function causeOf({ package: name, reason }: Outdated): string {
  const { restarts: say } = words()
  if (name !== null) return say.ofPackage(name)
  return reason === 'needrestart' ? say.ofNeedrestart : say.ofFile(reason)
}
