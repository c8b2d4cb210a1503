export const logs = {
  title: 'Journaux',
}
