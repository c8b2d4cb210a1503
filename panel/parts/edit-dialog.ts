import css from '../style/later/edit-dialog.css' with { type: 'text' }
import { addLaterStyle } from './later-style.ts'

addLaterStyle(css)

/** The class of a dialog with a form. Its style loads with the page that has one. */
export const EDIT_DIALOG = 'edit-dialog'
