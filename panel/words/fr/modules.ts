export const modules = {
  title: 'Modules',
}
