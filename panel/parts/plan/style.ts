import conffiles from '../../style/later/plan-conffiles.css' with { type: 'text' }
import difference from '../../style/later/plan-difference.css' with { type: 'text' }
import many from '../../style/later/plan-many.css' with { type: 'text' }
import plan from '../../style/later/plan.css' with { type: 'text' }
import { addLaterStyle } from '../later-style.ts'

for (const css of [plan, many, conffiles, difference]) addLaterStyle(css)
