import * as z from 'zod'
import type { ErrorTable } from '../../runtime/errors.ts'
import { Finding } from '../findings/finding.ts'

/** Errors of plans and of their runs: the stable code, its HTTP status, its French sentence. */
export const PLANS_ERRORS = {
  plan_missing: [404, 'Ce plan n’existe pas, ou n’est plus conservé.'],
  run_missing: [404, 'Ce lancement n’existe pas.'],
  plan_empty: [409, 'Il n’y a rien à mettre à jour avec ce choix.', { more: { findings: z.array(Finding) } }],
  plan_used: [409, 'Ce plan a déjà été exécuté. Faites-en un nouveau.'],
  plan_changed: [
    409,
    'Ce qui allait être fait n’est plus ce que le plan annonçait : rien n’a été changé. Faites un nouveau plan.',
  ],
  plan_not_begun: [
    409,
    'La mise à jour s’est arrêtée avant de changer quoi que ce soit ; sa sortie dit pourquoi. Revérifiez, puis faites un nouveau plan.',
  ],
  plan_unbound: [
    409,
    'Des paquets ont été changés sans que le plan ait pu être comparé, ou autrement que prévu. Vérifiez la sortie.',
  ],
  plan_of_another_user: [403, 'Ce plan est celui de quelqu’un d’autre. Faites le vôtre pour y choisir.'],
  plan_expired: [410, 'Ce plan a plus d’une heure. Faites-en un nouveau.'],
  plan_of_another_target: [422, 'Ce plan est celui d’une autre cible.'],
  target_repeated: [422, 'Plusieurs de ces plans sont pour la même cible.'],
  plan_impossible: [
    422,
    'Cette mise à jour n’est pas possible tant que ce qui la bloque n’est pas réglé.',
    { more: { findings: z.array(Finding) } },
  ],
  conffiles_changed: [409, 'Ce plan vient de changer. Relisez-le.'],
  conffile_unknown: [422, 'Ce plan n’a pas ce fichier, ou sa nouvelle version n’est pas encore connue.'],
  conffiles_unavailable: [502, 'Les fichiers de configuration n’ont pas pu être comparés.'],
  plans_busy: [429, 'Trop de plans sont en préparation. Réessayez dans {seconds} s.', { retryAfter: true }],
} as const satisfies ErrorTable

/** Actions that plans write to the audit log. */
export const PLANS_ACTIONS = ['plan_choice'] as const
