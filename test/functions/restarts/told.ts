import { STANDING } from '../../../functions/restarts/standing-script.ts'
import { type TargetFacts, targetFactsOf } from '../../../functions/restarts/standing-facts.ts'
import { run } from '../../ssh/host-shell.ts'

/** The lines that this machine tells of its place, by the part of an inspection. `path` is where its programs are looked for. */
export async function told(path = process.env.PATH ?? ''): Promise<TargetFacts | undefined> {
  const section = 'section() { cat; }\n'
  const { stdout } = await run(['env', `PATH=${path}:/usr/sbin:/sbin`, 'LC_ALL=C', '/bin/sh', '-c', section + STANDING])
  return targetFactsOf(stdout.toString().split('\n'))
}
