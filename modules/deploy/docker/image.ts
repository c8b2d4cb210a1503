import { cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type Docker from 'dockerode'
import * as z from 'zod'
import { exists, makeFolder } from '../../../platform/files.ts'
import { BASE_LABEL } from './request.ts'

const Failed = z.object({ error: z.string() })

/** What is laid out for the engine; no module's id begins with a dot. */
const CONTEXT = '.image-'

/**
 * Makes an image of the one that runs plus the folder of modules, with what lies beside them for a change to be taken back.
 * Always from the image that had no modules: an image has at most 127 layers. Rejects with what the engine says of it.
 */
export async function buildImage(engine: Docker, running: string, folder: string, tag: string): Promise<void> {
  const { Config } = await engine.getImage(running).inspect()
  const base = Config.Labels?.[BASE_LABEL] ?? running
  if (!(await exists(folder))) await makeFolder(folder)
  for (const name of await readdir(folder))
    if (name.startsWith(CONTEXT)) await rm(join(folder, name), { recursive: true })
  const context = await mkdtemp(join(folder, CONTEXT))
  try {
    await mkdir(join(context, 'modules'))
    for (const name of await readdir(folder))
      if (!name.startsWith(CONTEXT)) await cp(join(folder, name), join(context, 'modules', name), { recursive: true })
    const { uid, gid } = await stat(folder)
    // What is copied is root's unless it is said; the files are for their owner alone.
    const lines = [
      `FROM ${base}`,
      `LABEL ${BASE_LABEL}=${base}`,
      `COPY --chown=${uid}:${gid} ${JSON.stringify(['modules/', `${literal(folder)}/`])}`,
    ]
    await writeFile(join(context, 'Dockerfile'), `${lines.join('\n')}\n`)
    const said = await engine.buildImage({ context, src: ['Dockerfile', 'modules'] }, { t: tag, networkmode: 'none' })
    // The answer is 200 before the work begins: a failure is one of its lines.
    for (const line of (await text(said)).split('\n')) {
      const failed = Failed.safeParse(line === '' ? undefined : JSON.parse(line))
      if (failed.success) throw new Error(`l’image n’a pas pu être construite : ${failed.data.error}`)
    }
  } finally {
    await rm(context, { recursive: true, force: true })
  }
}

/** In a Dockerfile's words, also those in the form of JSON, variables and quotes have a meaning. */
function literal(path: string): string {
  return path.replaceAll(/[\\$'"]/g, '\\$&')
}
