import { type AuditStatement, auditStatement } from '../runtime/audit.ts'
import { type ErrorTable, failuresOf } from '../runtime/errors.ts'

/** Error codes of modules and their deployments, each with its HTTP status and French sentence. */
export const MODULES_ERRORS = {
  module_busy: [409, 'Ce module est déjà en cours de modification.'],
  deployment_busy: [409, 'Une autre installation est en cours : attendez qu’elle se termine.'],
  module_page_missing: [404, 'Ce module n’a pas de page, est désactivé ou n’est pas chargé.'],
  modules_folder_unusable: [503, 'Le dossier des modules ne peut pas être utilisé ({message}).'],
  module_store_full: [409, 'Ce module ne peut pas enregistrer davantage ({limit} entrées au plus).'],
  module_refused: [409, 'Le module refuse : {message}'],
  module_entry_missing: [404, 'Cet élément n’existe pas, ou n’existe plus.'],
  deployer_missing: [503, 'Ce module contient du code, que le service ne charge qu’à son démarrage : {how}'],
} as const satisfies ErrorTable

/** Creates a failure of this room, to be thrown. */
export const moduleFailure = failuresOf(MODULES_ERRORS)

/** Audit actions of modules and their deployments. */
export const MODULES_ACTIONS = [
  'module_installed',
  'module_enabled',
  'module_disabled',
  'module_removed',
  'module_taken_back',
  'module_settings_changed',
  'module_action',
  'module_taken_out',
] as const

/** Returns an audit entry of this room as a statement. */
export const moduleAuditStatement: AuditStatement<(typeof MODULES_ACTIONS)[number]> = auditStatement
