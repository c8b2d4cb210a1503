import * as z from 'zod'
import { isLink, SAFE_LINK, SAFE_LINK_TEXT } from '../../platform/links.ts'
import { parseJson } from '../../platform/untrusted.ts'
import type { Detail } from '../../runtime/errors.ts'
import { checked } from '../../runtime/input.ts'

const expected =
  (what: string) =>
  ({ input }: { input?: unknown }): string =>
    input === undefined ? 'obligatoire' : `${what} est attendu`

/** A text on one line, for menus, lists and terminals. */
const line = (max: number) =>
  z
    .string({ error: expected('un texte') })
    .max(max, `${max} caractères au plus`)
    .refine((text) => text.trim() !== '', 'ne doit pas être vide')
    .regex(/^\P{Cc}*$/u, 'sans caractère de contrôle')

const Nav = z.object(
  {
    label: line(80),
    icon: line(80).optional(),
    href: line(2_000).refine((href) => isLink(href, SAFE_LINK), SAFE_LINK_TEXT),
    order: z
      .int({ error: 'un nombre entier est attendu' })
      .min(-100_000, '-100000 au moins')
      .max(100_000, '100000 au plus')
      .optional(),
  },
  { error: 'un objet {label, icon?, href, order?} est attendu' },
)

/** Most files of a page. An installation fetches each of them from the forge. */
const MAX_FILES = 32
/** The endings of a page's files; the service sends each with its media type. */
const PAGE_FILE = /\.(html|js|mjs|css|json|svg|png|jpg|webp|gif|ico|woff2|txt)$/

/** Most parts of a file's path: the address at which the service sends it has as many. */
const MAX_DEPTH = 8

const Page = z.object(
  {
    files: z
      .array(
        line(255).refine(
          (path) => PAGE_FILE.test(path) && isPathInside(path) && path.split('/').length <= MAX_DEPTH,
          'le nom d’un fichier du dépôt, sans « .. », dans 7 dossiers imbriqués au plus (html, js, mjs, css, json, svg, png, jpg, webp, gif, ico, woff2, txt)',
        ),
        { error: expected('une liste') },
      )
      .min(1, 'un fichier au moins')
      .max(MAX_FILES, `${MAX_FILES} fichiers au plus`)
      .refine(([first = '']) => first.endsWith('.html'), 'le premier fichier est la page, en .html')
      .refine((files) => new Set(files).size === files.length, 'un fichier y est deux fois'),
  },
  { error: 'un objet {files} est attendu' },
)

/**
 * A module's description in the `module.json` of its repository. Unknown fields are ignored. The schema does not check
 * whether the id is free.
 */
export const Descriptor = z.object(
  {
    id: z
      .string({ error: expected('un texte') })
      .regex(/^[a-z][a-z0-9-]{0,62}$/, 'des minuscules, des chiffres et des tirets, une lettre d’abord, 63 au plus'),
    name: line(100),
    version: line(64),
    description: z
      .string({ error: expected('un texte') })
      .max(2_000, '2000 caractères au plus')
      .regex(/^[\P{Cc}\n\r\t]*$/u, 'sans caractère de contrôle')
      .optional(),
    has_backend: z.boolean({ error: 'true ou false est attendu' }).default(false),
    /** The path of the file with code, from the root of the repository; absent unless `has_backend` is true. */
    backend: line(255)
      .refine(
        (path) => /\.m?js$/.test(path) && isPathInside(path),
        'le nom d’un fichier .mjs ou .js du dépôt, sans « .. »',
      )
      .default('backend.mjs'),
    nav: Nav.optional(),
    /** The files of the module's own page, from the root of the repository; the first one is its document. */
    page: Page.optional(),
  },
  { error: 'un objet JSON est attendu' },
)
export type Descriptor = z.infer<typeof Descriptor>

/**
 * Parses the text of a `module.json`, or returns the errors in French. The field of an error about the whole text is
 * empty.
 */
export function parseDescriptor(text: string): { descriptor: Descriptor } | { reasons: Detail[] } {
  // Some editors put a byte order mark at the beginning.
  const json = text.replace(/^\uFEFF/, '')
  const value = parseJson(json)
  if (value === undefined) {
    const what = /^\s*<(!|html)/i.test(json) ? 'c’est une page HTML' : 'ce n’est pas un texte JSON'
    return { reasons: [{ field: '', message: what }] }
  }
  const parsed = checked(Descriptor, value)
  if (parsed.success) return { descriptor: parsed.data }
  return { reasons: parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message })) }
}

function isPathInside(path: string): boolean {
  return !path.includes('\\') && path.split('/').every((name) => name !== '' && name !== '.' && name !== '..')
}
