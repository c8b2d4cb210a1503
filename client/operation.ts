import type { Operations } from './operations.ts'

/** `POST /api/updates/run`, say. */
export type Operation = keyof Operations
export type Answer<operation extends Operation> = Operations[operation]['answer']

/** `network_failed`: nothing has answered. `unexpected_answer`: something that is not the service has, a proxy perhaps. */
export type ClientCode = 'network_failed' | 'unexpected_answer'
/** What an operation may fail with. */
export type Code<operation extends Operation> = Operations[operation]['code'] | ClientCode

type Parts<operation extends Operation> = Omit<Operations[operation], 'answer' | 'code'>

/** What an operation takes. */
export type Input<operation extends Operation> = Parts<operation> & { signal?: AbortSignal | undefined }

/** Nothing has to be given where nothing of it is required. */
export type Arguments<operation extends Operation> =
  Partial<Parts<operation>> extends Parts<operation> ? [input?: Input<operation>] : [input: Input<operation>]

export type Api = <operation extends Operation>(
  operation: operation,
  ...input: Arguments<operation>
) => Promise<Answer<operation>>
