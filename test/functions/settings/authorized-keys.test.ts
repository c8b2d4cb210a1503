import { execFile } from 'node:child_process'
import { chmod, link, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AUTHORIZED_KEYS, addKey, linePattern, removeKey, whyNot } from '../../../functions/settings/authorized-keys.ts'
import type { Output } from '../../../ssh/channel.ts'
import type { Command } from '../../../ssh/command.ts'
import { authorizedLine, newSshKey } from '../../../ssh/key.ts'
import { testApp } from '../../app.ts'
import { temporaryFolder } from '../../db/folder.ts'

const [OLD, NEW, OTHER] = [newSshKey(), newSshKey(), newSshKey()]

/** Runs a command with this machine's own shell. */
function runIn(home: string, command: Command): Promise<Output> {
  const [program, ...words] = command
  return new Promise((resolve) => {
    execFile(program, words, { env: { PATH: process.env.PATH, HOME: home } }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
  })
}

/** A home folder, whose account's commands run here. `text` is its authorized_keys; undefined for no folder. */
async function account(text?: string | Buffer, exec?: (command: Command, home: string) => Promise<Output>) {
  const home = await temporaryFolder()
  const folder = join(home, '.ssh')
  const file = join(folder, 'authorized_keys')
  if (text !== undefined) {
    await mkdir(folder, { mode: 0o700 })
    await writeFile(file, text, { mode: 0o640 })
  }
  const { services } = await testApp([], {
    fake: { exec: (command) => (exec ?? ((each) => runIn(home, each)))(command, home) },
  })
  return {
    home,
    folder,
    file,
    host: services.host,
    bytes: () => readFile(file),
    text: () => readFile(file, 'latin1'),
    names: async () => (await readdir(folder)).sort(),
  }
}

test('a missing folder and file are made for the account alone', async () => {
  const { host, folder, file, text, names } = await account()

  expect(await addKey(host, NEW, undefined)).toEqual({ line: authorizedLine(NEW) })

  expect(await text()).toBe(`${authorizedLine(NEW)}\n`)
  expect([(await stat(folder)).mode & 0o777, (await stat(file)).mode & 0o777]).toEqual([0o700, 0o600])
  expect(await names()).toEqual(['authorized_keys'])
})

test('whatever else the file has stays byte for byte, with its mode', async () => {
  const hostile = Buffer.concat([
    Buffer.from('# ssh-ed25519 in a comment\n\n  \t\nnot a key at all \\ $(id) `id` %s %n\r\n'),
    Buffer.from([0, 0xff, 0xfe, 0x1b, 0x5b, 0x0a]),
    Buffer.from(`${authorizedLine(OTHER, 'command="echo \\"x\\""')}\n`),
    Buffer.from(`# ${OLD.publicKey} commented out\n${'x'.repeat(100_000)}\n`),
  ])
  const { host, file, bytes } = await account(Buffer.concat([hostile, Buffer.from(`${authorizedLine(OLD)}\n`)]))
  const { mode, uid, gid } = await stat(file)

  expect(await addKey(host, NEW, OLD)).toEqual({ line: authorizedLine(NEW) })
  expect(await removeKey(host, OLD)).toBe('removed')

  expect(await bytes()).toEqual(Buffer.concat([hostile, Buffer.from(`${authorizedLine(NEW)}\n`)]))
  expect(await stat(file)).toMatchObject({ mode, uid, gid })
  expect(mode & 0o777).toBe(0o640)
  expect(await removeKey(host, NEW)).toBe('removed')
  expect(await bytes()).toEqual(hostile)
})

test('a last line without its end is not joined with the new one', async () => {
  const { host, text } = await account(authorizedLine(OTHER))

  await addKey(host, NEW, undefined)

  expect(await text()).toBe(`${authorizedLine(OTHER)}\n${authorizedLine(NEW)}\n`)
})

test.each(['from="192.0.2.7,2001:db8::7",restrict,pty', 'command="/bin/x \\"a b\\" ssh-ed25519",no-pty', ''])(
  'the new line has the options of the old one: %s',
  async (options) => {
    const { host, text } = await account(`  ${authorizedLine(OLD, options)} and a comment\n`)

    const { line, obstacle } = await addKey(host, NEW, OLD)

    expect(obstacle).toBeUndefined()
    expect(line).toBe(authorizedLine(NEW, options))
    expect(await text()).toContain(`\n${line}\n`)
  },
)

test('options that cannot be read for sure are not dropped: nothing is added', async () => {
  const before = `from="é" ${OLD.publicKey} x\n`
  const { host, text } = await account(Buffer.from(before))

  expect(await addKey(host, NEW, OLD)).toMatchObject({ obstacle: 'options' })

  expect(await text()).toBe(Buffer.from(before).toString('latin1'))
})

test('a line that is there is not added again, and every copy of it is removed', async () => {
  const { host, text } = await account(`${authorizedLine(NEW, 'pty')}\n${authorizedLine(OTHER)}\n`)

  expect(await addKey(host, NEW, undefined)).toMatchObject({ line: authorizedLine(NEW) })
  expect((await text()).split(NEW.publicKey)).toHaveLength(2)
  expect(await removeKey(host, NEW)).toBe('removed')
  expect(await removeKey(host, NEW)).toBe('absent')
  expect(await text()).toBe(`${authorizedLine(OTHER)}\n`)
})

test('removing from an account without keys finds none, and makes nothing', async () => {
  const { host, home } = await account()

  expect(await removeKey(host, OLD)).toBe('absent')

  expect(await readdir(home)).toEqual([])
})

test('a link, a folder in its place, a large file: the file stays as it is', async () => {
  const target = await account(`${authorizedLine(OTHER)}\n`)
  const linked = await account()
  await mkdir(linked.folder, { mode: 0o700 })
  await symlink(target.file, linked.file)
  const linkedFolder = await account()
  await symlink(target.folder, linkedFolder.folder)
  const folder = await account()
  await mkdir(folder.file, { recursive: true })
  const large = await account(Buffer.alloc(1_100_000, 'x\n'))
  const dangling = await account()
  await symlink('/nonexistent/folder', dangling.folder)

  expect((await addKey(linked.host, NEW, undefined)).obstacle).toBe('file')
  expect((await addKey(linkedFolder.host, NEW, undefined)).obstacle).toBe('folder')
  expect((await addKey(folder.host, NEW, undefined)).obstacle).toBe('file')
  expect((await addKey(large.host, NEW, undefined)).obstacle).toBe('large')
  expect((await addKey(dangling.host, NEW, undefined)).obstacle).toBe('folder')
  expect(await removeKey(linked.host, OTHER)).toBe('file')

  expect(await target.text()).toBe(`${authorizedLine(OTHER)}\n`)
  expect(await target.names()).toEqual(['authorized_keys'])
  for (const word of ['folder', 'file', 'large', 'write', 'changed', 'options', 'elsewhere'] as const)
    expect(whyNot(word)).toMatch(/^\p{L}.+[^.]$/u)
})

test('a file of another account stays as it is', async () => {
  const { host, file, text } = await account(`${authorizedLine(OTHER)}\n`, (command, home) =>
    // Only the shell's own account differs: the tests of files are the real ones.
    runIn(home, ['setpriv', '--reuid=65534', '--clear-groups', ...command]),
  )
  await chmod(join(file, '..', '..'), 0o777)
  await chmod(join(file, '..'), 0o777)
  await chmod(file, 0o666)

  expect((await addKey(host, NEW, undefined)).obstacle).toBe('folder')
  expect(await text()).toBe(`${authorizedLine(OTHER)}\n`)
})

test('what another program writes meanwhile is not lost', async () => {
  let runs = 0
  const { host, file, text } = await account(`${authorizedLine(OTHER)}\n`, async (command, home) => {
    runs += 1
    if (runs > 1) return runIn(home, command)
    // Between the copy and the replacement, another program adds a line.
    const [sh, option, script = '', ...words] = command
    const late = script.replace('sync -- "$new"', `echo late >>"$file"; sync -- "$new"`)
    expect(late).not.toBe(script)
    return runIn(home, [sh, option ?? '', late, ...words])
  })

  expect(await addKey(host, NEW, undefined)).toEqual({ line: authorizedLine(NEW) })

  expect(await text()).toBe(`${authorizedLine(OTHER)}\nlate\n${authorizedLine(NEW)}\n`)
  expect(runs).toBe(2)
  expect((await stat(file)).nlink).toBe(1)
})

test('a killed attempt leaves the old file, and a later one removes what it left', async () => {
  const { host, home, folder, text, names } = await account(`${authorizedLine(OTHER)}\n`)
  const cut = AUTHORIZED_KEYS.replace('mv -fT', () => 'kill -KILL $$; mv -fT')
  const words = ['add', linePattern(NEW), authorizedLine(NEW)]
  expect(await runIn(home, ['sh', '-c', cut, 'x', ...words])).toMatchObject({ code: expect.anything(), stdout: '' })
  expect(await text()).toBe(`${authorizedLine(OTHER)}\n`)
  const [left = ''] = (await names()).filter((name) => name !== 'authorized_keys')
  await utimes(join(folder, left), 0, 0)
  await link(join(folder, left), join(folder, 'kept'))

  await addKey(host, NEW, undefined)

  expect(await names()).toEqual(['authorized_keys', 'kept'])
  expect(await text()).toBe(`${authorizedLine(OTHER)}\n${authorizedLine(NEW)}\n`)
})

test('output of start-up files is no answer, and an answer that is none is an error', async () => {
  const noisy = await account(undefined, async (command, home) => {
    const { code, stdout, stderr } = await runIn(home, command)
    return { code, stdout: `Welcome!\nadded\nno end of line${stdout}`, stderr }
  })
  expect(await removeKey(noisy.host, OLD)).toBe('absent')

  const silent = await account(undefined, async () => ({ code: 0, stdout: '', stderr: '' }))
  await expect(addKey(silent.host, NEW, undefined)).rejects.toMatchObject({ name: 'SshError' })
  const failing = await account(undefined, async () => ({ code: 127, stdout: 'added\n', stderr: '' }))
  await expect(addKey(failing.host, NEW, undefined)).rejects.toMatchObject({ name: 'SshError' })
})
