import { terminalTests } from './terminals.ts'

terminalTests('alice', 'sudo with its password')
terminalTests('ops', 'sudo for pct only')
