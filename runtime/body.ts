import { Failure } from './errors.ts'

/** More than any body of this API needs; what is longer is refused before it is held in memory. */
const MAX_BODY = 1024 * 1024

/** Reads a JSON body of at most 1 MiB, undefined where there is none and none is needed. Throws `body_too_large` or `invalid_json`. */
export async function readBody(request: Request, { optional = false } = {}): Promise<unknown> {
  const text = await readText(request).catch((cause: unknown) => {
    // The client has gone, or sent what is no body: nobody's fault here.
    throw cause instanceof Failure ? cause : new Failure('invalid_json', { cause })
  })
  if (optional && text === '') return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Failure('invalid_json', { cause })
  }
}

async function readText(request: Request): Promise<string> {
  const tooLarge = () => new Failure('body_too_large', { values: { limit: '1 Mio' } })
  const length = request.headers.get('content-length')
  if (length !== null) {
    if (Number(length) > MAX_BODY) throw tooLarge()
    return request.text()
  }
  const decoder = new TextDecoder()
  let size = 0
  let text = ''
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > MAX_BODY) throw tooLarge()
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
