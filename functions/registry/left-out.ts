/**
 * Why a repository is not offered: the stable code, and the clause in French that follows the repository's name. The
 * last two concern the list itself.
 */
export const LEFT_OUT = {
  archived: 'est archivé',
  empty: 'est vide',
  no_code: 'n’a pas de code : sa section « Code » est désactivée',
  bad_name: 'son nom ne peut pas être celui d’un module',
  no_descriptor: 'n’a pas de module.json',
  invalid_descriptor: 'son module.json est invalide',
  symlink: 'son module.json est un lien symbolique',
  lfs_pointer: 'son module.json est un pointeur Git LFS',
  too_large: 'son module.json est trop grand',
  unreadable: 'la forge ne l’a pas laissé lire',
  list_repeats: 'la forge renvoie toujours la même page',
  list_too_long: 'la liste est trop longue pour être lue en entier',
} as const
export type LeftOutCode = keyof typeof LEFT_OUT

/** A repository that is not offered; `*` stands for those that the list does not name. */
export interface LeftOut {
  repository: string
  code: LeftOutCode
  /** More than the code says, in French. */
  detail?: string
}

/** The repositories that are left out for one reason. */
export interface LeftOutGroup {
  code: LeftOutCode
  reason: string
  count: number
  /** The first of them. */
  repositories: { name: string; detail: string | null }[]
}

/** Most repositories that a group names: a person reads no more, and an answer stays small. */
const MAX_NAMED = 50
const MAX_DETAIL = 500

/** Groups repositories by reason, in the order of the codes. */
export function groupsOf(left: readonly LeftOut[]): LeftOutGroup[] {
  const groups = new Map<LeftOutCode, LeftOutGroup>()
  for (const { repository, code, detail } of left) {
    const group = groups.get(code) ?? { code, reason: LEFT_OUT[code], count: 0, repositories: [] }
    groups.set(code, group)
    group.count += 1
    if (repository === '*' || group.repositories.length >= MAX_NAMED) continue
    group.repositories.push({ name: repository, detail: detail?.slice(0, MAX_DETAIL) ?? null })
  }
  const order = Object.keys(LEFT_OUT)
  return [...groups.values()].sort((one, other) => order.indexOf(one.code) - order.indexOf(other.code))
}
