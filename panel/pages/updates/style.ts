import { addLaterStyle } from '../../parts/later-style.ts'
import css from '../../style/later/updates-selection.css' with { type: 'text' }

addLaterStyle(css)
