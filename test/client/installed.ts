import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildClient } from '../../packaging/client-package.ts'
import { temporaryFolder } from '../db/folder.ts'

export const ROOT = join(import.meta.dirname, '../..')
const run = promisify(execFile)

/** Builds and packs the client, and installs the package in another project, which also has Node's types. */
export async function installClient() {
  const folder = await temporaryFolder()
  const [built, project] = [join(folder, 'built'), join(folder, 'project')]
  const installed = join(project, 'node_modules/ops-panel-client')
  await buildClient(built)
  await run('npm', ['pack', '--silent', '--pack-destination', folder, built])
  const [tarball = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'))
  await mkdir(installed, { recursive: true })
  await run('tar', ['-xzf', join(folder, tarball), '-C', installed, '--strip-components=1'])
  await symlink(join(ROOT, 'node_modules/@types'), join(project, 'node_modules/@types'))
  await writeFile(join(project, 'package.json'), '{"type":"module"}')
  return {
    built,
    installed,
    project,
    copy: (file: string, name: string) => cp(join(ROOT, file), join(project, name)),
    write: (name: string, text: string) => writeFile(join(project, name), text),
  }
}
