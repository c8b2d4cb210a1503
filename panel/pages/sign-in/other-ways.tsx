import { Fingerprint, LogIn } from 'lucide'
import { FactorProblem } from '../../parts/access/factor-problem.tsx'
import { accessWords } from '../../parts/access/words.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { Icon } from '../../parts/icon.tsx'
import { useLoad } from '../../wire/load.ts'
import { api } from '../../wire/panel.ts'
import { askPasskey, hasPasskeys } from '../../wire/passkeys.ts'
import { enter } from './enter.ts'
import { keepRequest } from './oidc-request.ts'

/** The ways to sign in without a password, where this service has them. */
export function OtherWays() {
  const say = accessWords().ways
  const passkeys = useLoad((signal) => api('GET /api/auth/login/passkey', { signal }))
  const provider = useLoad((signal) => api('GET /api/auth/oidc', { signal }))
  const byPasskey = useAct(async () => {
    const { challenge, options } = await api('POST /api/auth/login/passkey/options')
    const response = await askPasskey(options)
    await enter(() => api('POST /api/auth/login/passkey', { body: { challenge, response } }))
  })
  const byProvider = useAct(async () => {
    const { url, challenge } = await api('POST /api/auth/oidc')
    keepRequest(challenge)
    location.assign(url)
  })
  const name = provider.data.value?.name
  return (
    <div class="other-ways">
      <FactorProblem error={byPasskey.error.value ?? byProvider.error.value} />
      {passkeys.data.value?.enabled && hasPasskeys() && (
        <Action act={byPasskey}>
          <Icon of={Fingerprint} />
          {say.passkey}
        </Action>
      )}
      {name && (
        <Action act={byProvider}>
          <Icon of={LogIn} />
          {say.provider(name)}
        </Action>
      )}
    </div>
  )
}
