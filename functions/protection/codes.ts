import * as z from 'zod'
import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of protected upgrades: the stable code, its HTTP status, its French sentence. */
export const PROTECTION_ERRORS = {
  protection_unavailable: [
    409,
    'La protection demandée n’a pas pu être mise en place : rien n’a été mis à jour. La sortie dit pourquoi.',
  ],
  protection_invalid: [422, 'Cette protection n’est pas valable.'],
  probe_unavailable: [
    409,
    'Le programme restreint de l’hôte (ops-panel-host) n’exécute pas de sonde « commande » : rien n’a été mis à jour.',
  ],
  rollback_impossible: [
    409,
    'Le retour en arrière n’est pas possible : {reason}',
    { more: { destroys: z.array(z.string()) } },
  ],
  snapshot_missing: [409, 'Cette mise à jour n’a pas d’instantané, ou il n’existe plus.'],
  decision_impossible: [409, 'Il n’y a rien à décider : cette mise à jour n’a pas de régression, ou a été annulée.'],
} as const satisfies ErrorTable

/** Actions that protected upgrades write to the audit log. */
export const PROTECTION_ACTIONS = [
  'protection_change',
  'update_rollback',
  'update_keep',
  'snapshot_delete',
  'update_end',
] as const
