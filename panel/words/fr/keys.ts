export const keys = {
  title: 'Raccourcis clavier',
}
