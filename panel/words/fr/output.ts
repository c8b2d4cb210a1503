export const output = {
  title: 'Sortie',
}
