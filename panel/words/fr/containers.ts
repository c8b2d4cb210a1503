export const containers = {
  title: 'Conteneurs',
}
