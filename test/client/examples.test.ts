import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../db/folder.ts'
import { freePort } from '../free-port.ts'
import { startDemo } from '../runtime/demo.ts'
import { startService } from '../serve/service.ts'
import { installClient, ROOT } from './installed.ts'

async function run(command: string, words: string[], options: { cwd?: string; env?: Record<string, string> }) {
  const env = { ...process.env, PANEL_PASSWORD: 'demo', ...options.env }
  const child = spawn(command, words, { ...options, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [code]: unknown[] = await once(child, 'close')
  return { code, stdout, stderr }
}

test('the TypeScript example follows an upgrade in twenty lines', { timeout: 60_000 }, async () => {
  const service = await startService(await startDemo({ lineMs: 5 }))
  const { project, copy } = await installClient()
  await copy('examples/follow-upgrade.ts', 'follow-upgrade.ts')

  const words = ['follow-upgrade.ts', service.url, 'demo', 'lxc:101']
  const { code, stdout, stderr } = await run(process.execPath, words, { cwd: project })

  expect(stderr).toBe('')
  expect(stdout).toContain('5 upgraded, 0 newly installed')
  expect(code).toBe(0)
  const source = await readFile(join(ROOT, 'examples/follow-upgrade.ts'), 'utf8')
  expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(20)
})

test('the TypeScript example exits with the code of the command, and reports a refused sign-in', {
  timeout: 60_000,
}, async () => {
  const service = await startService(await startDemo())
  const { project, copy } = await installClient()
  await copy('examples/follow-upgrade.ts', 'follow-upgrade.ts')
  const words = (target: string) => ['follow-upgrade.ts', service.url, 'demo', target]

  const stopped = await run(process.execPath, words('lxc:103'), { cwd: project })
  expect(stopped.stdout).toContain("container '103' not running!")
  expect(stopped.code).toBe(255)

  const stranger = await run(process.execPath, words('host'), { cwd: project, env: { PANEL_PASSWORD: 'wrong' } })
  expect(stranger).toMatchObject({ code: 1, stderr: 'Nom d’utilisateur ou mot de passe incorrect.\n' })

  const nowhere = await run(process.execPath, ['follow-upgrade.ts', `http://127.0.0.1:${await freePort()}`], {
    cwd: project,
  })
  expect(nowhere).toEqual({ code: 1, stdout: '', stderr: 'Le service ne répond pas.\n' })
  const wrong = await run(process.execPath, ['follow-upgrade.ts', 'panel.example'], { cwd: project })
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/^L’adresse du service .*\n$/) })
})

/** Returns a PATH with a program that has websocat’s options. */
async function withWebsocat(): Promise<string> {
  const folder = await temporaryFolder()
  const program = `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'test/client/websocat.ts')}' "$@"\n`
  await writeFile(join(folder, 'websocat'), program)
  await chmod(join(folder, 'websocat'), 0o755)
  return `${folder}:${process.env.PATH}`
}

test('the curl example exits with the code of the command', { timeout: 60_000 }, async () => {
  const service = await startService(await startDemo())
  const words = [join(ROOT, 'examples/follow-upgrade.sh'), service.url, 'demo', 'lxc:103']

  const { code, stdout, stderr } = await run('bash', words, { env: { PATH: await withWebsocat() } })

  expect({ code, stderr }).toEqual({ code: 255, stderr: '' })
  expect(stdout).toContain("container '103' not running!")
})

test('the websocat example follows an upgrade', {
  timeout: 60_000,
}, async () => {
  const password = 'say "demo" \\ please'
  const users = { carol: { password, uid: 1002, groups: ['carol'] } }
  const service = await startService(await startDemo({ lineMs: 5, users }))
  const path = await withWebsocat()

  const { code, stdout, stderr } = await run(
    'bash',
    [join(ROOT, 'examples/follow-upgrade.sh'), service.url, 'carol', 'lxc:101'],
    { env: { PATH: path, PANEL_PASSWORD: password } },
  )

  expect(stderr).toBe('')
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const text = events.map(({ data }) => data.chunk ?? '').join('')
  expect(text).toContain('5 upgraded, 0 newly installed')
  expect(events.at(-1)).toMatchObject({ type: 'update_done', seq: Buffer.byteLength(text) })
  expect(code).toBe(0)
})
