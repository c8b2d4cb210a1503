import { DETAILS, type Details } from './event.ts'
import { listing, type Told, telling, type Words, zoned } from './words.ts'

const some = (count: number, one: string, more: string) => `${count} ${count > 1 ? more : one}`
const andMore = (count: number) => `et ${some(count, 'autre', 'autres')}`
const list = listing(andMore)

function place(name: string, target: string | null): string {
  if (target === null) return name || 'Tous les conteneurs'
  if (target === 'host') return name || 'Hôte'
  return name === '' ? target : `${name} (${target})`
}

type Upgraded = Details<'upgrade_done'>

function subject({ name, application }: Upgraded, target: string | null): string {
  return application === null ? place(name, target) : `${place(name, target)}, ${application}`
}

function startedBy({ by, schedule }: Upgraded): string[] {
  if (schedule) return [`Demandé par la planification « ${schedule.name} ».`]
  return by === null ? [] : [`Demandé par ${by}.`]
}

function installed({ packages, security }: Upgraded): string[] {
  if (packages === null || packages === 0) return []
  if (security === packages) return [`${some(packages, 'mise à jour de sécurité', 'mises à jour de sécurité')}.`]
  const part = security === null || security === 0 ? '' : `, dont ${security} de sécurité`
  return [`${some(packages, 'paquet', 'paquets')}${part}.`]
}

function whyFailed({ reason, code }: Upgraded): string[] {
  if (reason !== null) return [reason]
  return code === null || code === 0 ? [] : [`La commande s’est terminée avec le code ${code}.`]
}

function regressions({ regressions: all, worse }: Upgraded): string[] {
  return worse > all.length ? [...all, `${andMore(worse - all.length)}.`] : all
}

function updates({ name, upgrades, security, news, packages }: Details<'updates_available'>, target: string | null) {
  const counts =
    security === upgrades
      ? some(upgrades, 'mise à jour de sécurité', 'mises à jour de sécurité')
      : `${some(upgrades, 'mise à jour', 'mises à jour')}${security > 0 ? `, dont ${security} de sécurité` : ''}`
  return {
    title: `${place(name, target)} : ${counts}`,
    lines: [`${news > 1 ? 'Nouvelles' : 'Nouvelle'} : ${list(packages, news)}.`],
  }
}

const MISSED: Readonly<Record<string, string>> = {
  service_away: 'Le service était arrêté, et la plage s’est fermée entre-temps.',
  former_run: 'L’exécution précédente de cette planification n’était pas finie.',
  all_paused: 'Toutes les planifications sont suspendues.',
}

const STOPPED: Readonly<Record<string, string>> = {
  regressed: 'Une mise à jour a mis quelque chose en panne',
  failed: 'Une mise à jour a échoué',
  creator_kept_out: 'Le compte qui a créé cette planification ne peut plus lancer de mises à jour : elle est suspendue',
  host_away: 'L’hôte n’a pas pu être joint',
  reboot_failed: 'Le redémarrage de l’hôte n’a pas abouti',
  internal_error: 'Une erreur du service lui-même, que son journal contient, a duré jusqu’à la fin de la plage',
}

const HAPPENED: Readonly<Record<string, string>> = {
  regressed: 'quelque chose est en panne après la mise à jour',
  rolled_back: 'revenu à l’état d’avant la mise à jour',
  rollback_failed: 'le retour en arrière a échoué',
  failed: 'la mise à jour a échoué',
  plan_changed: 'pas mis à jour : autre chose que le plan allait être fait',
  impossible: 'aucune mise à jour n’était possible',
  cancelled: 'annulé',
  check_failed: 'la vérification a échoué',
}

function stopped({ name, wave, waves, reason, targets, happened }: Details<'schedule_stopped'>): Told {
  const others = targets.filter((each) => !happened.some(({ target }) => target === each))
  const because = others.length > 0 ? ` : ${list(others)}` : ''
  const left = wave === null ? 0 : waves - wave
  return {
    title: `Planification « ${name} » arrêtée${wave === null ? '' : ` à la vague ${wave} sur ${waves}`}`,
    lines: [
      `${STOPPED[reason] ?? reason}${because}.`,
      ...happened.map(
        (of) =>
          `${place(of.name, of.target)} : ${HAPPENED[of.outcome] ?? of.outcome}${of.reason ? ` (${of.reason})` : ''}`,
      ),
      ...(left > 0
        ? [`${left > 1 ? `Les ${left} vagues suivantes n’ont pas commencé` : 'La vague suivante n’a pas commencé'}.`]
        : []),
    ],
    advice:
      reason === 'creator_kept_out'
        ? 'Un administrateur qui modifie la planification la reprend à son compte.'
        : 'Réparez d’abord ce qui est en panne : la prochaine exécution recommence à la première vague.',
  }
}

export const fr: Words = {
  events: {
    updates_available: telling(DETAILS.updates_available, updates),
    security_updates_available: telling(DETAILS.security_updates_available, updates),
    upgrade_done: telling(DETAILS.upgrade_done, (of, target) => ({
      title: `${subject(of, target)} : mise à jour faite`,
      lines: [...installed(of), ...startedBy(of)],
    })),
    upgrade_failed: telling(DETAILS.upgrade_failed, (of, target) => ({
      title: `${subject(of, target)} : la mise à jour a échoué`,
      lines: [...whyFailed(of), ...startedBy(of)],
      advice: 'La sortie de la tâche dit où elle s’est arrêtée.',
    })),
    regressed: telling(DETAILS.regressed, (of, target) => ({
      title: `${subject(of, target)} : ${some(of.worse, 'élément', 'éléments')} en panne après la mise à jour`,
      lines: [...regressions(of), ...startedBy(of)],
      advice: 'Revenez à l’état d’avant, ou gardez la mise à jour.',
    })),
    rolled_back: telling(DETAILS.rolled_back, (of, target) => ({
      title: `${subject(of, target)} : revenu à l’état d’avant la mise à jour`,
      lines: [...regressions(of), 'Ce qui y a été écrit depuis est perdu.', ...startedBy(of)],
      advice: 'La mise à jour reste à faire : cherchez d’abord ce qui l’a fait échouer.',
    })),
    rollback_failed: telling(DETAILS.rollback_failed, (of, target) => ({
      title: `${subject(of, target)} : le retour en arrière a échoué`,
      lines: [...whyFailed(of), ...regressions(of), ...startedBy(of)],
      advice: 'Le conteneur peut être arrêté ou verrouillé : regardez-le maintenant.',
    })),
    reboot_required: telling(DETAILS.reboot_required, ({ name, reasons }, target) => ({
      title: `${place(name, target)} : redémarrage requis`,
      lines: reasons.length > 0 ? [`Pour : ${list(reasons)}.`] : [],
    })),
    schedule_missed: telling(DETAILS.schedule_missed, ({ name, due_at, timezone, count, reason }) => ({
      title: `Planification « ${name} » : ${some(count, 'exécution manquée', 'exécutions manquées')}`,
      lines: [
        `${count > 1 ? 'La dernière était prévue' : 'Elle était prévue'} le ${zoned(due_at, timezone)}.`,
        MISSED[reason] ?? reason,
      ],
    })),
    schedule_stopped: telling(DETAILS.schedule_stopped, stopped),
    check_failed: telling(DETAILS.check_failed, ({ name, message }, target) => ({
      title: `${place(name, target)} : la vérification échoue`,
      lines: [message ?? 'La cible n’a pas répondu, ou sa réponse n’était pas entière.'],
      advice: 'Tant qu’elle échoue, le panneau ne sait pas quelles mises à jour attendent.',
    })),
    host_unreachable: telling(DETAILS.host_unreachable, ({ name, message }) => ({
      title: `${place(name, 'host')} : inaccessible`,
      lines: [message],
      advice: 'Rien n’est vérifié ni mis à jour tant que l’hôte ne répond pas au service.',
    })),
    sign_in_from_new_address: telling(DETAILS.sign_in_from_new_address, ({ username, address }) => ({
      title: `${username} : connexion depuis une nouvelle adresse`,
      lines: [`Adresse : ${address}.`],
      advice: `Si ce n’était pas ${username}, changez son mot de passe sur l’hôte et terminez ses sessions.`,
    })),
    settings_changed: telling(DETAILS.settings_changed, ({ username, keys }) => ({
      title: `Réglages changés par ${username}`,
      lines: [`${list(keys, keys.length, 20)}.`],
    })),
    disk_low: telling(DETAILS.disk_low, ({ name, message }, target) => ({
      title: `${place(name, target)} : la place manque`,
      lines: [message],
    })),
    module_taken_out: telling(DETAILS.module_taken_out, ({ name, message }) => ({
      title: `Module « ${name} » mis à l’écart`,
      lines: [message],
      advice: 'Le service fonctionne sans lui. Réessayez-le sur la page des modules, ou installez une autre version.',
    })),
  },
  counted: {
    updates_available: (count) => `mises à jour pour ${some(count, 'cible', 'cibles')}`,
    security_updates_available: (count) => `mises à jour de sécurité pour ${some(count, 'cible', 'cibles')}`,
    upgrade_done: (count) => some(count, 'mise à jour faite', 'mises à jour faites'),
    upgrade_failed: (count) => some(count, 'mise à jour en échec', 'mises à jour en échec'),
    regressed: (count) => some(count, 'régression', 'régressions'),
    rolled_back: (count) => some(count, 'retour en arrière', 'retours en arrière'),
    rollback_failed: (count) => some(count, 'retour en arrière en échec', 'retours en arrière en échec'),
    reboot_required: () => 'redémarrage requis',
    schedule_missed: (count) => some(count, 'exécution manquée', 'exécutions manquées'),
    schedule_stopped: () => 'planification arrêtée',
    check_failed: (count) => some(count, 'vérification en échec', 'vérifications en échec'),
    host_unreachable: () => 'hôte inaccessible',
    sign_in_from_new_address: (count) => some(count, 'connexion inhabituelle', 'connexions inhabituelles'),
    settings_changed: (count) => some(count, 'changement de réglages', 'changements de réglages'),
    disk_low: (count) => `la place manque sur ${some(count, 'cible', 'cibles')}`,
    module_taken_out: (count) => some(count, 'module mis à l’écart', 'modules mis à l’écart'),
  },
  and: ' ; ',
  more: (count) => `… ${andMore(count)}.`,
  output: (where) => `Fin de la sortie, ${where} :`,
  place,
  at: zoned,
}
