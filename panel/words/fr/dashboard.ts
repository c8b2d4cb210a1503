export const dashboard = {
  title: 'Tableau de bord',
}
