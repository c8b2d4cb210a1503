export const account = {
  title: 'Mon compte',
}
