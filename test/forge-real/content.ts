import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { vi } from 'vitest'
import * as z from 'zod'
import { ADMIN, type Gitea, ORG } from './gitea.ts'

const run = promisify(execFile)

/** A file by its text or bytes, a symbolic link by its target, or another repository's commit at this place. */
export type Entry = string | Buffer | { link: string } | { commit: string }
export type Files = Readonly<Record<string, Entry>>

/** The text of a module.json. */
export function descriptor(id: string, more: object = {}): string {
  return JSON.stringify({ id, name: `Le module ${id}`, version: '1.0.0', ...more })
}

/** Creates a repository of the organisation, and pushes a commit with these files to it. */
export async function createRepository(
  gitea: Gitea,
  name: string,
  files: Files,
  { branch = 'main', ...more }: { branch?: string; private?: boolean; description?: string } = {},
): Promise<string> {
  await gitea.api('POST', `/orgs/${ORG}/repos`, { name, default_branch: branch, ...more })
  return pushFiles(gitea, name, files, { branch })
}

/** Replaces a branch by one commit with these files, which has no parent, and returns its number: a forced push. */
export async function pushFiles(
  gitea: Gitea,
  name: string,
  files: Files,
  { branch = 'main' }: { branch?: string } = {},
): Promise<string> {
  const folder = join(dirname(gitea.repositories), '..', 'pushed', `${name}-${Math.random()}.git`)
  const commit = await writeBare(folder, files, branch)
  await push(gitea, name, folder, branch)
  await rm(folder, { recursive: true })
  // The forge takes notice of a push some milliseconds after it has confirmed it.
  await vi.waitFor(
    async () => {
      const { empty, branch_count } = await described(gitea, name)
      if (empty || branch_count === 0) throw new Error(`${name} is still empty`)
    },
    { timeout: 60_000, interval: 20 },
  )
  return commit
}

async function push(gitea: Gitea, name: string, folder: string, what: string): Promise<void> {
  const to = new URL(`${gitea.url}/${ORG}/${name}.git`)
  to.username = ADMIN
  to.password = gitea.token
  // Stronger than a setting of git, which a variable of the machine may replace.
  const env = { ...process.env, ...(gitea.certificate && { GIT_SSL_CAINFO: gitea.certificate }) }
  await run('git', ['-C', folder, 'push', '--quiet', '--force', to.href, what], { env, timeout: 60_000 })
}

const Committed = z.object({ commit: z.object({ sha: z.string() }) })

/** Adds a file to the branch main, on top of its tip, and returns the commit. */
export async function addFile(gitea: Gitea, name: string, path: string, text: string): Promise<string> {
  const body = { content: Buffer.from(text).toString('base64'), branch: 'main', message: `adds ${path}` }
  return Committed.parse(await gitea.api('POST', `/repos/${ORG}/${name}/contents/${path}`, body)).commit.sha
}

/** Points a reference, such as `refs/tags/v1`, at a commit that the repository has; without one, removes it. */
export function pushRef(gitea: Gitea, name: string, ref: string, commit = ''): Promise<void> {
  // The repository is pushed to itself, through the forge.
  return push(gitea, name, join(gitea.repositories, `${name}.git`), `${commit}:${ref}`)
}

const Described = z.object({ empty: z.boolean(), branch_count: z.number().optional() })

async function described(gitea: Gitea, name: string) {
  return Described.parse(await gitea.api('GET', `/repos/${ORG}/${name}`))
}

/**
 * Makes private repositories in one go: as folders that the forge adopts, five times as fast as pushing to new ones.
 */
export async function adoptRepositories(gitea: Gitea, all: ReadonlyMap<string, Files>): Promise<void> {
  const waiting = [...all]
  const work = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [name, files] = next
      await writeBare(join(gitea.repositories, `${name}.git`), files, 'main')
      await gitea.api('POST', `/admin/unadopted/${ORG}/${name}`)
    }
  }
  await Promise.all([work(), work(), work(), work()])
}

/** Makes a bare repository with one commit and returns its number. */
async function writeBare(folder: string, files: Files, branch: string): Promise<string> {
  await mkdir(dirname(folder), { recursive: true })
  await run('git', ['init', '--quiet', '--bare', '--template=', `--initial-branch=${branch}`, folder])
  const importing = spawn('git', ['-C', folder, 'fast-import', '--quiet'], { stdio: ['pipe', 'ignore', 'inherit'] })
  const ended = once(importing, 'exit')
  importing.stdin.end(commitStream(files, branch))
  const [code] = await ended
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`)
  return (await run('git', ['-C', folder, 'rev-parse', branch])).stdout.trim()
}

/** One commit in the format of `git fast-import`. */
function commitStream(files: Files, branch: string): Buffer {
  const parts: Buffer[] = []
  const data = (bytes: Buffer) => parts.push(Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n'))
  const line = (text: string) => parts.push(Buffer.from(`${text}\n`))
  line(`commit refs/heads/${branch}`)
  line('committer Test <test@forge.test> 1700000000 +0000')
  data(Buffer.from('a change\n'))
  for (const [path, entry] of Object.entries(files)) {
    if (typeof entry === 'string' || Buffer.isBuffer(entry)) {
      line(`M 100644 inline ${path}`)
      data(Buffer.from(entry))
    } else if ('link' in entry) {
      line(`M 120000 inline ${path}`)
      data(Buffer.from(entry.link))
    } else line(`M 160000 ${entry.commit} ${path}`)
  }
  return Buffer.concat(parts)
}
