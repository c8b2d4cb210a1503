import css from '../../style/later/schedules.css' with { type: 'text' }
import { addLaterStyle } from '../later-style.ts'

addLaterStyle(css)
