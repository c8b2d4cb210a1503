// Only the compiler runs this file: it checks which uses of the client compile and which do not.
import {
  type Answer,
  type ClientCode,
  type Code,
  createPanel,
  isFailure,
  type Operations,
  type Panel,
  type SocketConstructor,
} from '../../client/index.ts'

type Equal<a, b> = (<t>() => t extends a ? 1 : 2) extends <t>() => t extends b ? 1 : 2 ? true : false
const holds = <_ extends true>() => {}

export async function calls(panel: Panel): Promise<void> {
  const { job_id } = await panel.api('POST /api/updates/run', { body: { target: 'host' } })
  await panel.api('GET /api/updates/jobs/{id}', { params: { id: job_id }, query: { output: 'none' } })
  await panel.api('GET /api/updates/history')
  const history = await panel.api('GET /api/updates/history', { signal: AbortSignal.timeout(1) })
  // @ts-expect-error there may be none
  history.length

  // @ts-expect-error no such path
  await panel.api('POST /api/updates/rum', { body: { target: 'host' } })
  // @ts-expect-error no such method there
  await panel.api('GET /api/updates/run')
  // @ts-expect-error the body is missing
  await panel.api('POST /api/updates/run')
  // @ts-expect-error not that body
  await panel.api('POST /api/updates/run', { body: { targets: 'host' } })
  // @ts-expect-error a target is a text
  await panel.api('POST /api/updates/run', { body: { target: 101 } })
  // @ts-expect-error the parameter is missing
  await panel.api('GET /api/updates/jobs/{id}')
  // @ts-expect-error not that query
  await panel.api('GET /api/updates/history', { query: { output: 'all' } })
  // @ts-expect-error it takes no body
  await panel.api('GET /api/updates/history', { body: {} })
  const answer = await panel.api('GET /api/auth/me')
  // @ts-expect-error not in the answer
  answer.password
  // @ts-expect-error neither a job nor a deployment
  panel.follow('terminal:1')
}

export async function topics(panel: Panel): Promise<string> {
  for await (const event of panel.follow('update:1')) {
    if (event.type === 'update_output') return event.data.chunk
    if (event.type === 'update_error') return event.data.error
    // @ts-expect-error the last event of a job has no output
    event.data.chunk
  }
  for await (const { data } of panel.follow('deploy:1')) return data.state
  return ''
}

/** A `switch` over the codes is exhaustive: `never` is left. */
export function told(error: unknown): string {
  if (!isFailure(error, 'GET /api/updates/targets')) return 'something else'
  const { code } = error
  switch (code) {
    case 'ssh_incomplete':
    case 'ssh_password_unreadable':
      return 'settings'
    case 'unauthenticated':
      return 'sign in'
    case 'enrolment_required':
      return 'add a factor'
    case 'rate_limited':
      return `in ${error.retryAfter} s`
    case 'host_answer_too_long':
      return 'at the host'
    case 'network_failed':
    case 'unexpected_answer':
      return 'not the service'
    case 'answer_too_large':
    case 'headers_too_large':
    case 'internal':
    case 'malformed_http':
    case 'not_configured':
    case 'request_timeout':
    case 'storage_failed':
      return 'whatever operation it is'
    // @ts-expect-error not a code of this operation
    case 'core_module':
      return ''
    default: {
      const rest: never = code
      return rest
    }
  }
}

holds<Equal<Code<'GET /api/health'>, Operations['GET /api/health']['code'] | ClientCode>>()
holds<Equal<Answer<'POST /api/updates/jobs/{id}/cancel'>, { message: string }>>()

/** The sockets of browsers and of Node do. */
export const sockets = (own: typeof WebSocket): SocketConstructor => own

/** A client with an API token has no session. */
export async function withToken(): Promise<void> {
  const panel = createPanel({ url: 'https://panel.example', token: 'opt_…' })
  await panel.api('GET /api/auth/me')
  // @ts-expect-error nobody signs in
  await panel.signIn('alice', 'password')
  // @ts-expect-error there is nothing to renew
  await panel.renew()
  // @ts-expect-error rights are never renewed here
  createPanel({ url: 'https://panel.example', token: 'opt_…', onRenewed() {} })
  await createPanel({ url: 'https://panel.example' }).resume()
}
