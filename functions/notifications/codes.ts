import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of channels: the stable code, its HTTP status, its French sentence. */
export const CHANNELS_ERRORS = {
  channel_missing: [404, 'Ce canal n’existe pas.'],
  channels_full: [409, 'Il y a déjà {most} canaux : supprimez-en un.'],
  channel_name_taken: [409, 'Un autre canal porte déjà ce nom.'],
  channel_changed: [409, 'Ce canal vient d’être modifié par quelqu’un d’autre : relisez-le.'],
  channel_settings_invalid: [422, 'Les réglages de ce canal sont invalides.'],
  channel_secret_required: [
    400,
    'L’adresse du canal change, ou sa connexion devient moins sûre : donnez de nouveau son secret.',
  ],
} as const satisfies ErrorTable

/** Audit actions of channels. */
export const CHANNELS_ACTIONS = ['channel_create', 'channel_change', 'channel_delete', 'channel_test'] as const
