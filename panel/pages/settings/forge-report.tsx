import type { Answer } from '../../../client/index.ts'
import { type Act, Action } from '../../parts/action.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { fromService } from '../../words/words.ts'
import { forgeWords } from './forge-words.ts'

export type ForgeReport = Answer<'POST /api/settings/forge/test'>

interface ForgeReportProps {
  report: ForgeReport
  /** Whether some of the tested values are not stored. */
  isUnsaved: boolean
  accept: Act<[]>
}

/** The results of a test of the forge: one row a check, and a certificate that can be accepted. */
export function ForgeResults({ report: { checks, fingerprint }, isUnsaved, accept }: ForgeReportProps) {
  const say = forgeWords()
  const isWell = checks.every(({ ok }) => ok)
  return (
    <section class="tested" aria-label={say.results}>
      <p>
        <Status is={isWell ? 'ok' : 'warn'}>{isWell ? say.allWell : say.notWell}</Status>
      </p>
      {isUnsaved && <p class="dim">{say.unsavedTested}</p>}
      <ul class="list">
        {checks.map(({ id, ok, message }) => (
          <li key={id}>
            <Status is={ok ? 'ok' : 'err'} hidden>
              {ok ? say.passed : say.failed}
            </Status>
            <div class="grow">
              <p>{say[`check_${id}`]}</p>
              <p class="dim">{fromService(message)}</p>
            </div>
          </li>
        ))}
      </ul>
      {fingerprint !== null && (
        <>
          <p>{say.certificate}</p>
          <p class="mono key">{fingerprint}</p>
          <p class="dim">{say.compare}</p>
          <pre>openssl x509 -in cert.pem -noout -fingerprint -sha256</pre>
          <Problem error={accept.error.value} />
          <Action act={accept}>{say.accept}</Action>
        </>
      )}
    </section>
  )
}
