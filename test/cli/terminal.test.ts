import { expect, test } from 'vitest'
import { explain } from '../../cli/terminal.ts'

const refused = (message: string, syscall: string) => Object.assign(new Error(message), { code: 'EACCES', syscall })

test('somebody who may not read the data is told as whom to start the command', () => {
  const error = refused("EACCES: permission denied, stat '/var/lib/ops-panel/panel.db'", 'stat')
  expect(explain(error, 'users')).toBe(
    "accès refusé (EACCES: permission denied, stat '/var/lib/ops-panel/panel.db'). Lancez la commande en root, ou sous le compte du service.",
  )
})

test('a port that only root may open is told with the variable that chooses another', () => {
  const error = refused('listen EACCES: permission denied 127.0.0.1:80', 'listen')
  expect(explain(error, 'le service')).toBe(
    'ce port n’est pas permis à ce compte (listen EACCES: permission denied 127.0.0.1:80). Choisissez-en un autre avec PANEL_PORT.',
  )
})
