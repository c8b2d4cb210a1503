import type { Check } from '../../nouns/checked.ts'
import { isApt } from '../../nouns/manager.ts'
import { BlockableButton } from '../../parts/blockable-button.tsx'
import { targetName } from '../../parts/target-name.ts'
import { isAdmin } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'
import type { Deeds } from './deeds.ts'

/** The finding about held packages of each target that has some. */
export function heldIn(checks: readonly Check[]) {
  return checks.flatMap((check) =>
    check.findings.flatMap((finding) => (finding.code === 'held' ? [{ check, finding }] : [])),
  )
}

/** The held packages of all targets, to be released one by one or all of a target at once. */
export function HeldList({ checks, deeds }: { checks: readonly Check[]; deeds: Deeds }) {
  const { updates: say } = words()
  const held = heldIn(checks)
  if (held.length === 0) return <p class="empty">{say.noneHeld}</p>
  return (
    <div class="held">
      {held.map(({ check, finding }) => {
        const name = check.target === 'host' ? targetName('host') : check.name
        const may = isAdmin.value && isApt(check)
        return (
          <section key={check.target} aria-label={say.heldOn(name)}>
            <div class="held-bar">
              <h2 class="cut" title={name}>
                {name}
              </h2>
              <span class="dim num">{finding.packages.length}</span>
              {may && finding.packages.length > 1 && (
                <BlockableButton
                  class="small"
                  label={say.releaseAllOf(name)}
                  blocked={deeds.blocked}
                  press={() => deeds.hold(check.target, finding.packages, false)}
                >
                  {say.releaseAll}
                </BlockableButton>
              )}
            </div>
            {!isApt(check) && <p class="dim small">{say.heldBy(check.manager ?? '')}</p>}
            <ul class="list">
              {finding.packages.map((one) => (
                <li key={one}>
                  <span class="grow anywhere">{one}</span>
                  {may && (
                    <BlockableButton
                      class="small"
                      label={say.releaseOf(one, name)}
                      blocked={deeds.blocked}
                      press={() => deeds.hold(check.target, [one], false)}
                    >
                      {say.release}
                    </BlockableButton>
                  )}
                </li>
              ))}
            </ul>
          </section>
        )
      })}
    </div>
  )
}
