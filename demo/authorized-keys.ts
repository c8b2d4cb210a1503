import type { Program } from './process.ts'

/** Imitates the script that shows, adds and removes lines of an account's `authorized_keys`. */
export const authorizedKeys: Program = async ([action = '', pattern = '', line = ''], { user, stdout }) => {
  const lines = (user.authorizedKeys ?? '').split('\n').filter((each) => each !== '')
  const matches = new RegExp(pattern.replaceAll('[:blank:]', ' \\t'))
  const found = lines.find((each) => matches.test(each))
  const word = () => {
    if (user.keysAreForeign) return 'file'
    if (action === 'show') return found === undefined ? 'absent' : `found ${found}`
    if (action === 'add' && found !== undefined) return 'present'
    if (action === 'remove' && found === undefined) return 'absent'
    const changed = action === 'add' ? [...lines, line] : lines.filter((each) => !matches.test(each))
    user.authorizedKeys = changed.map((each) => `${each}\n`).join('')
    return action === 'add' ? 'added' : 'removed'
  }
  await stdout(`\n${word()}\n`)
  return 0
}
