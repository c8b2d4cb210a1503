import type { Operations } from './operations.ts'

/** For example `POST /api/updates/run`. */
export type Operation = keyof Operations
export type Answer<operation extends Operation> = Operations[operation]['answer']

/** `network_failed`: there was no answer. `unexpected_answer`: something other than the service answered, perhaps a proxy. */
export type ClientCode = 'network_failed' | 'unexpected_answer'
/** The codes that an operation may fail with. */
export type Code<operation extends Operation> = Operations[operation]['code'] | ClientCode

type Parts<operation extends Operation> = Omit<Operations[operation], 'answer' | 'code'>

/** The input of an operation. */
export type Input<operation extends Operation> = Parts<operation> & { signal?: AbortSignal | undefined }

/** The input is optional when none of its parts is required. */
export type Arguments<operation extends Operation> =
  Partial<Parts<operation>> extends Parts<operation> ? [input?: Input<operation>] : [input: Input<operation>]

export type Api = <operation extends Operation>(
  operation: operation,
  ...input: Arguments<operation>
) => Promise<Answer<operation>>
