// Not in terminal.test.ts: .ci/run tries that file with the executable too, where the account makes no difference.
import { terminalTests } from './terminals.ts'

terminalTests('alice', 'sudo with its password')
terminalTests('ops', 'sudo for pct alone')
