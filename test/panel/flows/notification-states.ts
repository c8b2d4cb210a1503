import type { Page } from 'playwright-core'
import type { Answer } from '../../../client/index.ts'

export type Channel = Answer<'GET /api/notifications/channels'>['channels'][number]
export type Notice = Answer<'GET /api/notifications/notices'>['notices'][number]

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

/** A channel to a phone that works, unless something else is said. */
export function channelOf(id: string, name: string, rest: Partial<Channel> = {}): Channel {
  return {
    id,
    name,
    kind: 'ntfy',
    settings: { url: 'https://push.example', topic: 'ops-panel', allow_self_signed: false, token_set: true },
    events: ['regressed', 'rollback_failed', 'schedule_stopped', 'host_unreachable'],
    targets: 'all',
    minimum: 'info',
    quiet: null,
    language: 'fr',
    output: false,
    enabled: true,
    last: { at: ago(12), ok: true, error: null },
    ...rest,
  }
}

export function everyChannel(): Channel[] {
  return [
    channelOf('c1', 'Phone'),
    channelOf('c2', 'admin@example.org', {
      kind: 'email',
      settings: {
        host: 'mail.example',
        port: 587,
        security: 'starttls',
        username: 'panel',
        from: 'panel@example.org',
        to: ['admin@example.org'],
        allow_self_signed: false,
        password_set: true,
      },
      targets: ['lxc:101', 'lxc:102'],
      quiet: { from: '22:00', to: '07:00', timezone: 'Europe/Paris' },
    }),
    channelOf('c3', 'Home Assistant with the longest name that a channel may have, 64', {
      kind: 'webhook',
      settings: { url: 'https://home.example/hook', allow_self_signed: true, secret_set: true },
      last: { at: ago(3), ok: false, error: '401 Unauthorized' },
    }),
    channelOf('c4', 'Family room', {
      kind: 'matrix',
      settings: { url: 'https://matrix.example', room: '!a:matrix.example', allow_self_signed: false, token_set: true },
      events: ['regressed', 'upgrade_done'],
      enabled: false,
      last: null,
    }),
  ]
}

/** A notice that everybody got, unless something else is said. */
export function noticeOf(id: number, title: string, rest: Partial<Notice> = {}): Notice {
  return {
    id,
    at: ago(60 * (40 - (id % 40))),
    event: 'regressed',
    severity: 'critical',
    target: 'lxc:101',
    title,
    text: 'Le service nginx.service a échoué.\nRevenez en arrière, ou gardez la mise à jour.',
    link: '/updates/1772366400-k3x9q2pa',
    deliveries: [
      { channel_id: 'c1', state: 'delivered', attempts: 1, last_error: null, delivered_at: ago(2), next_at: null },
      {
        channel_id: 'c3',
        state: 'waiting',
        attempts: 4,
        last_error: '401 Unauthorized',
        delivered_at: null,
        next_at: ago(-5.5),
      },
      {
        channel_id: 'gone',
        state: 'given_up',
        attempts: 30,
        last_error: 'aucune réponse',
        delivered_at: null,
        next_at: null,
      },
      { channel_id: 'c2', state: 'quiet', attempts: 0, last_error: null, delivered_at: null, next_at: ago(-480.5) },
    ],
    ...rest,
  }
}

interface State {
  channels: Channel[]
  notices: Notice[]
  refusal: { status: number; json: object } | undefined
}

/** Answers the page's requests about notifications with this state, which a test may change, and keeps what the page asks for. */
export async function notifying(page: Page, channels = everyChannel()) {
  const notices = Array.from({ length: 34 }, (_, n) => noticeOf(34 - n, `web (lxc:101) : ${34 - n} services en panne`))
  const state: State = { channels, notices, refusal: undefined }
  const asked: { method: string; path: string; body: unknown }[] = []
  await page.route(/\/api\/notifications\//, async (route) => {
    const request = route.request()
    const { pathname, searchParams } = new URL(request.url())
    const method = request.method()
    const path = pathname.replace('/api/notifications', '')
    if (method === 'GET' && path === '/channels') return route.fulfill({ json: { channels: state.channels } })
    if (method === 'GET') {
      const before = Number(searchParams.get('before') ?? Number.POSITIVE_INFINITY)
      const limit = Number(searchParams.get('limit'))
      const found = state.notices.filter(({ id }) => id < before)
      const shown = found.slice(0, limit)
      return route.fulfill({ json: { notices: shown, next: found.length > limit ? shown.at(-1)?.id : null } })
    }
    asked.push({ method, path, body: request.postDataJSON() })
    if (state.refusal) return route.fulfill(state.refusal)
    if (path.endsWith('/test'))
      return route.fulfill({ json: { status: 200, answer: '{"id":"xE4f0q"}', refused: null } })
    const id = path.split('/').at(-1)
    if (method === 'DELETE') {
      state.channels = state.channels.filter((each) => each.id !== id)
      return route.fulfill({ json: { message: '' } })
    }
    if (method === 'POST') {
      const made = channelOf('c9', '', { ...request.postDataJSON(), last: null })
      state.channels = [...state.channels, made]
      return route.fulfill({ status: 201, json: made })
    }
    state.channels = state.channels.map((each) => (each.id === id ? { ...each, ...request.postDataJSON() } : each))
    return route.fulfill({ json: state.channels.find((each) => each.id === id) })
  })
  return { state, asked }
}
