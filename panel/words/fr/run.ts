export const run = {
  title: 'Plusieurs mises à jour',
  decide: (count: number) =>
    count === 1 ? '1 en panne\u00a0: à vous de choisir' : `${count} en panne\u00a0: à vous de choisir`,
  ended: (ended: number, all: number) => `${ended} sur ${all} ${ended > 1 ? 'terminées' : 'terminée'}`,
}
