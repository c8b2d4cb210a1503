/*
 * The files of a module's own page, for a frame that the browser keeps apart from the panel. A frame has no token, so its
 * address contains a ticket: whoever may read the page gets one that lasts an hour at most.
 */

import { timingSafeEqual } from 'node:crypto'
import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { ModuleRow } from '../db/modules.ts'
import { isCode } from '../platform/files.ts'
import type { Secrets } from '../platform/secrets.ts'
import { FILE_LIMITS } from './folder.ts'

type Ticketed = Pick<ModuleRow, 'id' | 'commit' | 'updated_at'>

/** Tickets of the same half hour are the same. */
const SLOT_MS = 30 * 60_000

/** Returns a ticket for the files of this installation of a module, for half an hour to an hour. */
export function pageTicket(secrets: Secrets, module: Ticketed, now: Date): string {
  const expires = (Math.floor(now.getTime() / SLOT_MS) + 2) * SLOT_MS
  return `${expires.toString(36)}.${markOf(secrets, module, expires)}`
}

/** Whether the ticket is one of this installation and has not expired. */
export function isPageTicket(secrets: Secrets, module: Ticketed, ticket: string, now: Date): boolean {
  const [, digits = '', mark = ''] = /^([0-9a-z]{1,10})\.([\w-]{1,64})$/.exec(ticket) ?? []
  const expires = Number.parseInt(digits, 36)
  const left = expires - now.getTime()
  if (!(left > 0 && left <= 2 * SLOT_MS)) return false
  const [given, right] = [Buffer.from(mark), Buffer.from(markOf(secrets, module, expires))]
  return given.length === right.length && timingSafeEqual(given, right)
}

function markOf(secrets: Secrets, { id, commit, updated_at }: Ticketed, expires: number): string {
  return secrets.mark('module_page', [id, commit ?? '', updated_at, expires].join('\0'))
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
}

/**
 * Reads a file of a module from `<folder>/<id>`; the caller has found it on the module's record. Undefined when it is
 * missing, is not a file, is too large, leads out of the module's folder or has no type that pages use.
 */
export async function readPageFile(
  folder: string,
  id: string,
  file: string,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; type: string } | undefined> {
  const type = TYPES[/\.(\w+)$/.exec(file)?.[1] ?? '']
  if (type === undefined) return undefined
  try {
    // The folder of all modules may be a link; that of one module may not.
    const home = join(await realpath(folder), id)
    const path = await realpath(join(home, file))
    if (!path.startsWith(home + sep)) return undefined
    const bytes = await readBounded(path)
    return bytes && { bytes, type }
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].some((code) => isCode(error, code))) return undefined
    throw error
  }
}

async function readBounded(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  // Opening a pipe would wait for its writer.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const found = await handle.stat()
    if (!found.isFile() || found.size > FILE_LIMITS.pageFile) return undefined
    const bytes = new Uint8Array(found.size)
    let filled = 0
    while (filled < bytes.length) {
      const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, filled)
      if (bytesRead === 0) return undefined
      filled += bytesRead
    }
    return bytes
  } finally {
    await handle.close()
  }
}
