import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of modules from the forge: the stable code, its HTTP status, its French sentence. */
export const REGISTRY_ERRORS = {
  module_missing: [404, 'Ce module n’existe pas.'],
  core_module: [409, 'Ce module fait partie du panneau : il ne peut être ni remplacé, ni désactivé, ni supprimé.'],
  deployment_missing: [404, 'Cette installation n’existe pas.'],
  repository_missing: [404, 'Ce dépôt n’existe pas sur la forge, ou n’est pas lisible.'],
  commit_changed: [
    409,
    'Ce module a changé depuis que la liste a été lue : il en est au commit {commit}. Relisez la liste.',
  ],
  commit_missing: [404, 'La forge n’a plus le commit {commit} de ce module.'],
  tag_missing: [404, 'La forge n’a plus l’étiquette (tag) {tag} de ce module.'],
  release_unknown: [409, 'Le panneau ne connaît pas cette version du module : relisez la liste.'],
  other_repository: [
    409,
    'Ce module vient de {recorded}, mais la forge des réglages le lit à {address}. Installez-le depuis la liste, ou corrigez la forge (forge_url, forge_org).',
  ],
  invalid_descriptor: [422, 'Le descripteur du module (module.json) est invalide.'],
  invalid_files: [422, 'Des fichiers du module manquent, ou ne peuvent pas être utilisés.'],
  forge_failed: [502, 'La forge ne peut pas être lue : {message}'],
} as const satisfies ErrorTable
