import { JobId } from '../../jobs/jobs.ts'
import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of restarts and reboots: the stable code, its HTTP status, its French sentence. */
export const RESTARTS_ERRORS = {
  service_unknown: [422, 'La dernière vérification de cette cible n’a pas de service « {service} » à redémarrer.'],
  service_protected: [422, 'Le service « {service} » n’est jamais redémarré seul : {why}'],
  systemctl_not_allowed: [
    409,
    'La règle sudo du compte de service ne permet pas systemctl : ajoutez-y /usr/bin/systemctl. La sortie donne la ligne.',
  ],
  confirm_invalid: [422, 'Ce n’est pas le nom de l’hôte : rien n’a été fait.'],
  backup_running: [409, 'Une sauvegarde est en cours : l’hôte ne redémarre pas avant qu’elle soit finie.'],
  jobs_running: [
    409,
    'Une autre tâche est en cours ou attend ({job_id}) : l’hôte ne redémarre pas avant sa fin.',
    { more: { job_id: JobId } },
  ],
  reboot_late: [409, 'Le redémarrage n’a pas pu commencer en 15 minutes : rien n’a été fait.'],
  reboot_refused: [502, 'L’hôte a refusé de redémarrer. La sortie dit pourquoi.'],
  reboot_missing: [
    502,
    'L’hôte n’a pas redémarré en 15 minutes : c’est toujours le même démarrage. Il peut encore redémarrer.',
  ],
  host_not_back: [
    502,
    'L’hôte ne répond plus depuis 15 minutes : il n’est pas revenu de son redémarrage, ou le réseau manque.',
  ],
} as const satisfies ErrorTable

/** Actions that restarts and reboots write to the audit log. */
export const RESTARTS_ACTIONS = ['restart_start', 'host_reboot'] as const
