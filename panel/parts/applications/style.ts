import css from '../../style/later/applications.css' with { type: 'text' }
import { addLaterStyle } from '../later-style.ts'
// The sheet has the form of a plan.
import '../plan/style.ts'

addLaterStyle(css)
