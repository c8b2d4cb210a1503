export const run = {
  title: 'Plusieurs mises à jour',
  ended: (ended: number, all: number) => `${ended} sur ${all} ${ended > 1 ? 'terminées' : 'terminée'}`,
}
