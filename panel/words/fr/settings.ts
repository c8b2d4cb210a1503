export const settings = {
  title: 'Réglages',
}
