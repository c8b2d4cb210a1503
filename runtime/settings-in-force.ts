import { SshError } from './ssh-connection.ts'

/** The settings have changed while a connection was being made for those of before. */
export class OutdatedError extends SshError {
  constructor() {
    super('lost', 'les réglages ont changé entre-temps')
  }
}

/** Does something with the settings that are in force; once more when they have changed meanwhile. */
export async function inForce<result>(work: () => Promise<result>): Promise<result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof OutdatedError)) throw error
    return work()
  }
}
