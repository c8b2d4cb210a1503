/** The options of a request over real HTTP. */
export interface Sent {
  /** The access token. */
  token?: string
  /** The refresh token. */
  cookie?: string
  /** A text is sent unchanged, anything else as JSON. */
  body?: unknown
  /** The client's address, as reported by a trusted proxy. */
  from?: string
  headers?: Record<string, string>
}

/** Sends one request, and returns any answer. */
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
