export const setup = {
  title: 'Installation',
}
