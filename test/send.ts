/** What goes with a request over real HTTP. */
export interface Sent {
  /** The access token. */
  token?: string
  /** The refresh token. */
  cookie?: string
  /** A text is sent as it is, anything else as JSON. */
  body?: unknown
  /** The client's address, as a trusted proxy tells it. */
  from?: string
  headers?: Record<string, string>
}

/** One request, and whatever is answered. */
export function send(url: string, method: string, path: string, sent: Sent = {}): Promise<Response> {
  const { token, cookie, from, headers = {}, body } = sent
  return fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(cookie !== undefined && { cookie: `svc_refresh=${cookie}` }),
      ...(from !== undefined && { 'x-forwarded-for': from }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}
