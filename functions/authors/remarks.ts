/*
 * Remarks on a module's folder: mistakes that keep no module from working, such as a misspelt field of `module.json` that
 * an installation ignores. They are told, and are no faults.
 */

import * as z from 'zod'
import { nearest } from '../../modules/modules.ts'
import { parseJson } from '../../platform/untrusted.ts'
import { Descriptor } from '../registry/descriptor.ts'
import { ICONS } from './icons.ts'

/** The fields of `module.json`, and of the objects in it. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(Descriptor.shape),
  nav: ['label', 'icon', 'href', 'order'],
  page: ['files'],
}

const AnyObject = z.record(z.string(), z.unknown())

/** Returns the remarks on a valid `module.json`. `hasPage` says whether the module declares a page or has a frame. */
export function descriptorRemarks(text: string, { id, nav }: Descriptor, hasPage: boolean): string[] {
  const whole = AnyObject.safeParse(parseJson(text.replace(/^\uFEFF/, ''))).data ?? {}
  const unknown = Object.entries(FIELDS).flatMap(([field, known]) => {
    const given = field === '' ? whole : (AnyObject.safeParse(whole[field]).data ?? {})
    return Object.keys(given)
      .filter((name) => !known.includes(name))
      .map((name) => `${field ? `${field}.` : ''}${name} : champ inconnu, sans effet${like(name, known)}`)
  })
  const icon =
    nav?.icon !== undefined && !ICONS.some((known) => known === nav.icon)
      ? [`nav.icon : « ${nav.icon} » n’est pas une icône du panneau, qui montre puzzle${like(nav.icon, ICONS)}`]
      : []
  const own = `/modules/${id}`
  const leads = nav?.href.startsWith('/modules/') && nav.href !== own
  const href =
    nav && (leads || (hasPage && nav.href.startsWith('/') && nav.href !== own))
      ? [`nav.href : « ${nav.href} » n’est pas la page du module, ${own}`]
      : []
  return [...unknown, ...icon, ...href].map((each) => `module.json : ${each}`)
}

function like(name: string, known: readonly string[]): string {
  const similar = nearest(name, known)
  return similar === undefined ? '' : ` (le plus proche : ${similar})`
}

/** Returns the remarks on the document of a frame: scripts that its browser does not run. */
export function documentRemarks(document: string, [first = '', ...files]: readonly string[]): string[] {
  const folder = first.slice(0, first.lastIndexOf('/') + 1)
  const tags = Array.from(
    document.replace(/<!--(?:[\s\S]*?-->|[\s\S]*$)/g, '').matchAll(/<script\b([^>]*)>/gi),
    ([, more = '']) => more,
  )
  return tags.flatMap((more) => {
    const source = /\bsrc\s*=\s*["']?([^"'\s>]+)/i.exec(more)?.[1]
    if (source === undefined) return [`${first} : un <script> sans src n’est pas exécuté`]
    const path = folder + source.replace(/^\.\//, '').replace(/[?#].*$/, '')
    return source.includes('..') || files.includes(path)
      ? []
      : [`${first} : le script « ${source} » n’est pas dans page.files`]
  })
}
