export const palette = {
  title: 'Commandes',
}
