import type { Finding } from '../nouns/checked.ts'
import { Status } from './status.tsx'
import { words } from '../words/words.ts'

const MARKS = { blocking: 'err', warning: 'warn', info: 'info' } as const

/** The severity mark of a finding, its sentence, and the packages that the sentence does not name. */
export function FindingText({ finding }: { finding: Finding }) {
  const say = words().findings
  const { severity, packages } = finding
  const sentence = say.sentence(finding)
  const isNamed = packages.every((name) => sentence.includes(name))
  return (
    <>
      <Status is={MARKS[severity]} hidden>
        {say.severities[severity]}
      </Status>
      <div class="grow">
        <p>{sentence}</p>
        {!isNamed && <p class="dim">{say.named(packages)}</p>}
      </div>
    </>
  )
}
