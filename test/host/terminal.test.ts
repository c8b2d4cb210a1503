// `.ci/run` runs this file with the executable too, for which the account does not matter: terminal-sudo.test.ts is apart.
import { terminalTests } from './terminals.ts'

terminalTests('root', 'root itself')
