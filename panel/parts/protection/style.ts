import guard from '../../style/later/protection-guard.css' with { type: 'text' }
import css from '../../style/later/protection.css' with { type: 'text' }
import { addLaterStyle } from '../later-style.ts'

for (const each of [guard, css]) addLaterStyle(each)
