export const updates = {
  title: 'Mises à jour',
}
