export const terminal = {
  title: 'Terminal',
}
