import { cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type Docker from 'dockerode'
import * as z from 'zod'
import { exists, makeFolder } from '../../../platform/files.ts'
import { BASE_LABEL } from './request.ts'

const Failed = z.object({ error: z.string() })

/** Prefix of the build context, which lies among the modules; no module's id begins with a dot. */
const CONTEXT = '.image-'

/**
 * Builds an image from the running one plus the folder of modules, including the previous files that a rollback needs.
 * Starts from the image without modules, because an image has at most 127 layers. Rejects with the engine's message.
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
    // COPY gives files to root by default, and only their owner may read them.
    const lines = [
      `FROM ${base}`,
      `LABEL ${BASE_LABEL}=${base}`,
      `COPY --chown=${uid}:${gid} ${JSON.stringify(['modules/', `${literal(folder)}/`])}`,
    ]
    await writeFile(join(context, 'Dockerfile'), `${lines.join('\n')}\n`)
    const answer = await engine.buildImage({ context, src: ['Dockerfile', 'modules'] }, { t: tag, networkmode: 'none' })
    // The engine answers 200 before the work begins, and reports a failure in a line of the answer.
    for (const line of (await text(answer)).split('\n')) {
      const failed = Failed.safeParse(line === '' ? undefined : JSON.parse(line))
      if (failed.success) throw new Error(`l’image n’a pas pu être construite : ${failed.data.error}`)
    }
  } finally {
    await rm(context, { recursive: true, force: true })
  }
}

/** Escapes variables and quotes, which a Dockerfile interprets in JSON arrays too. */
function literal(path: string): string {
  return path.replaceAll(/[\\$'"]/g, '\\$&')
}
