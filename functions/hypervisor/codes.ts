import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of the hypervisor and its containers: the stable code, its HTTP status, its French sentence. */
export const HYPERVISOR_ERRORS = {
  container_missing: [404, 'Ce conteneur n’existe pas, ou le compte ou le jeton du panneau ne le voit pas.'],
  container_locked: [502, 'Le conteneur est verrouillé ({lock}) : attendez que cette opération se termine.'],
  hypervisor_unreachable: [502, 'L’hyperviseur ne répond pas : {message}'],
  hypervisor_certificate: [
    502,
    'Le certificat de l’hyperviseur {message} : {fingerprint}. Comparez cette empreinte à celle qu’affiche l’hyperviseur, puis enregistrez-la dans les réglages (hypervisor_fingerprint).',
  ],
  hypervisor_in_clear: [
    502,
    'L’adresse de l’hyperviseur est en http:, où aucun certificat ne peut être comparé à celui qui a été accepté : corrigez-la, ou videz hypervisor_fingerprint.',
  ],
  hypervisor_unauthorized: [502, 'L’hyperviseur ne reconnaît pas le jeton : vérifiez-le dans les réglages.'],
  hypervisor_forbidden: [502, 'Le jeton n’a pas les droits nécessaires sur l’hyperviseur : {message}'],
  hypervisor_node_unknown: [
    502,
    'L’hyperviseur a plusieurs nœuds ({nodes}), et son adresse ne dit pas lequel est cet hôte : indiquez dans les réglages celle d’un nœud, par son nom.',
  ],
  hypervisor_refused: [502, 'L’hyperviseur a refusé : {message}'],
  hypervisor_unreadable: [502, 'La réponse de l’hyperviseur est inutilisable : {message}'],
  hypervisor_token_unreadable: [
    503,
    'Le jeton de l’hyperviseur enregistré ne peut pas être déchiffré. Saisissez-le à nouveau.',
  ],
} as const satisfies ErrorTable

/** Audit actions of the hypervisor and its containers. */
export const HYPERVISOR_ACTIONS = [
  'container_start',
  'container_stop',
  'container_shutdown',
  'container_reboot',
] as const
