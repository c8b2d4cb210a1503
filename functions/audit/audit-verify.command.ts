import { resolve } from 'node:path'
import { type ChainFault, type ChainReport, checkChain, type Link } from '../../db/access/audit-chain.ts'
import { inspectCopy, openCopy } from '../../db/libsql/copy.ts'
import { openExisting } from '../../db/storage.ts'
import { exists } from '../../platform/files.ts'
import { CommandError, defineCommand, type Report } from '../../runtime/command.ts'

/** The first version of the database with a hash chain. */
const FIRST_VERSION = 27

/** Entries that wait for their link longer than this, while others came, are not waiting any more. */
const WAITING_MS = 3_600_000

/**
 * Checks the hash chain of the audit log, of this installation or of a copy of its database. A link that was noted before,
 * such as the service's log has one for every hour, also proves that the end was not cut off and that the chain was not
 * made anew.
 */
export default defineCommand({
  name: 'audit verify',
  summary:
    'vérifier que rien n’a été changé, retiré ni ajouté dans le journal d’audit ; le maillon noté prouve aussi sa fin',
  data: 'none',
  args: ['id:empreinte?', 'copie?'],

  async run({ args }, { config }) {
    const noted = args.map(linkOf).find((link) => link !== undefined)
    const others = args.filter((arg) => linkOf(arg) === undefined)
    if (others.length > 1 || args.length - others.length > 1)
      throw new CommandError('il faut un maillon (id:empreinte), une copie de la base, ou l’un et l’autre.')
    const [copy] = others
    if (copy !== undefined && MEANT_AS_LINK.test(copy) && !(await exists(resolve(copy))))
      throw new CommandError(`« ${copy} » n’est pas un maillon. ${LINK_FORM}`)
    const db = copy === undefined ? (await openExisting(config)).db : await opened(resolve(copy))
    try {
      return told(await checkChain(db.query, noted), noted)
    } finally {
      await db.close()
    }
  },
})

function linkOf(arg: string): Link | undefined {
  const [, id, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(arg.toLowerCase()) ?? []
  return id !== undefined && hash !== undefined ? { id: Number(id), hash } : undefined
}

/** A word with so many hexadecimal digits, and nothing that paths have, was meant as a link. */
const MEANT_AS_LINK = /^[^./]*[0-9a-f]{32}[^./]*$/i
const LINK_FORM = 'Un maillon s’écrit id:empreinte, avec les 64 chiffres hexadécimaux de l’empreinte.'

async function opened(file: string) {
  if (!(await exists(file))) throw new CommandError(`${file} n’existe pas. ${LINK_FORM}`)
  const { version } = await inspectCopy(file).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new CommandError(`${file} n’est pas une copie lisible de la base (${reason}).`)
  })
  if (version < FIRST_VERSION) throw new CommandError(`${file} est d’une version sans chaîne d’empreintes.`)
  return openCopy(file)
}

const FAULTS: Readonly<Record<ChainFault['fault'], (id: number) => string>> = {
  entry_missing: (id) => `L’entrée ${id} manque : elle a été retirée.`,
  added: (id) => `L’entrée ${id} a été ajoutée : le service ne donne pas ce numéro.`,
  changed: (id) =>
    `L’entrée ${id} n’est pas celle qui a été liée : elle, son maillon ou un maillon précédent a été changé, ajouté ou déplacé.`,
  link_missing: (id) => `Le maillon de l’entrée ${id} manque : il a été retiré.`,
  noted_missing: (id) => `Le maillon noté ${id} n’existe plus : la fin du journal ou de sa chaîne a été retirée.`,
  noted_differs: (id) => `Le maillon ${id} n’est pas celui qui a été noté : la chaîne a été refaite.`,
}

function told({ entries, linked, newest, unlinked, unlinkedSince, until, fault }: ChainReport, noted?: Link): Report {
  const lines = [`Journal d’audit : ${entries} entrées.`]
  if (fault) {
    lines.push(FAULTS[fault.fault](fault.id))
    if (newest) lines.push(`Liées et inchangées jusque-là : ${linked}, jusqu’à ${newest.id}:${newest.hash}`)
    return { text: lines.join('\n'), ok: false }
  }
  lines.push(`Liées et inchangées : ${linked}.`)
  if (newest) lines.push(`Dernier maillon, à noter ailleurs : ${newest.id}:${newest.hash}`)
  if (unlinked === 0) return { text: [...lines, ...assurance(noted)].join('\n'), ok: true }
  lines.push(`Pas encore liées : ${unlinked}, depuis ${unlinkedSince}.`)
  const waited = Date.parse(until ?? '') - Date.parse(unlinkedSince ?? '')
  if (waited < WAITING_MS) return { text: [...lines, ...assurance(noted)].join('\n'), ok: true }
  lines.push(
    'Elles ne sont donc pas vérifiées. Un service en marche lie chaque entrée en quelques secondes, et celles d’une version antérieure en quelques minutes après sa mise à jour ; sinon, des maillons ont été retirés.',
  )
  return { text: lines.join('\n'), ok: false }
}

function assurance(noted: Link | undefined): string[] {
  if (noted) return ['Le maillon noté en fait partie : rien n’a été retiré ni refait jusqu’à lui.']
  return [
    'Sans maillon noté, une fin coupée ou une chaîne refaite ne se voit pas : ops-panel audit verify <id:empreinte>.',
  ]
}
