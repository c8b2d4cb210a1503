export const job = {
  title: 'Mise à jour',
}
